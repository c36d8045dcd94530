/** Text that a person or a provider has written, within a line of the Console's own words. */
import { markup, type Html } from "../../http/html.ts";

/** What a component takes as contents: text is escaped and isolated, a number and a template are inserted as they are. */
export type Content = string | number | Html;

/** The longest word that stays whole, in characters: a narrow column is as wide. */
const wordMax = 20;

/**
 * Its direction is its own, so that a right-to-left name does not turn the words around it. Longer addresses and ids may break after
 * a mark such as @ or /, and longer pieces anywhere.
 */
export function userText(words: string): Html {
  if (!hasLonger(words)) return markup`<bdi>${words}</bdi>`;
  const [first = "", ...others] = words.split(/(?<=[@/_:-])/);
  const broken = markup`${first}${others.map((piece) => markup`<wbr />${piece}`)}`;
  return [first, ...others].some(hasLonger) ? markup`<bdi class="long">${broken}</bdi>` : markup`<bdi>${broken}</bdi>`;
}

function hasLonger(words: string): boolean {
  return words.split(" ").some(({ length }) => length > wordMax);
}

export function content(given: Content): Html {
  return typeof given === "string" ? userText(given) : markup`${given}`;
}
