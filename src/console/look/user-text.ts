/** Text that a person or a provider has written, within a line of the Console's own words. */
import { markup, type Html } from "../../http/html.ts";

/** What a component takes as contents: text is escaped and isolated, a number and a template are inserted as they are. */
export type Content = string | number | Html;

/** The longest piece of a word that stays whole, in characters: a narrow column is as wide. */
const pieceMax = 20;

/**
 * Its direction is its own, so that a right-to-left name does not turn the words around it. Addresses and ids may break after a
 * mark such as @ or /, and longer pieces anywhere.
 */
export function userText(words: string): Html {
  const pieces = words.split(/(?<=[@/_:-])/);
  const long = pieces.some((piece) => piece.split(" ").some(({ length }) => length > pieceMax));
  const [first = "", ...others] = pieces;
  return markup`<bdi${long ? markup` class="long"` : null}>${first}${others.map((piece) => markup`<wbr />${piece}`)}</bdi>`;
}

export function content(given: Content): Html {
  return typeof given === "string" ? userText(given) : markup`${given}`;
}
