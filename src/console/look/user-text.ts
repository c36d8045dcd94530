/** Text that a person or a provider has written, within a line of the Console's own words. */
import { markup, type Html } from "../../http/html.ts";

/** What a component takes as contents: text is escaped and isolated, a number and a template are inserted as they are. */
export type Content = string | number | Html;

/** Its direction is its own, so that a right-to-left name does not turn the words around it. */
export function userText(words: string): Html {
  return markup`<bdi>${words}</bdi>`;
}

export function content(given: Content): Html {
  return typeof given === "string" ? userText(given) : markup`${given}`;
}
