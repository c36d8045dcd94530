/**
 * Extracts the text of stream chunks that differ only in their text, without parsing JSON. The text before and after it is
 * learned from a parsed chunk. A chunk with the same text before and after is equal in all else, because a quoted JSON text
 * cannot affect what surrounds it.
 */
import { asObject, asText, parseJson } from "../wire/json.ts";
import { firstChoice } from "./message.ts";

/** Some providers add something new to every chunk, such as random padding. Their chunks are always parsed. */
const attemptsMax = 8;
const opening = /"content": ?"/;
const probe = "probe";
/** Characters that JSON escapes, and the quote that ends a text. */
// oxlint-disable-next-line no-control-regex
const written = /["\\\u0000-\u001f]/;

export class ChunkTemplate {
  #before = "";
  #after = "";
  #attempts = 0;

  /** @returns the text of a chunk that matches the template; "" if the chunk must be parsed */
  textOf(chunk: string): string {
    const { length: before } = this.#before;
    const end = chunk.length - this.#after.length;
    if (before === 0 || end <= before || !chunk.startsWith(this.#before) || !chunk.endsWith(this.#after)) return "";
    const text = chunk.slice(before, end);
    return written.test(text) ? "" : text;
  }

  /** @param text the only content of this chunk: the content of its first choice */
  learn(chunk: string, text: string): void {
    if (this.#attempts === attemptsMax) return;
    this.#attempts++;
    const found = opening.exec(chunk);
    if (found === null) return;
    const start = found.index + found[0].length;
    const before = chunk.slice(0, start);
    const after = chunk.slice(start + text.length);
    if (before + text + after !== chunk || contentOf(before + probe + after) !== probe) return;
    this.#before = before;
    this.#after = after;
  }
}

function contentOf(chunk: string): string | null {
  const choice = firstChoice(asObject(parseJson(chunk)));
  return asText(asObject(choice?.["delta"])?.["content"]);
}
