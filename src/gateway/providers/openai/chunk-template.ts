/**
 * Chunks of a stream that are alike but for a text: that text is cut out of them, and nothing is parsed. What stands around it is learned
 * from a chunk that was parsed, and holds for every other one that is the same there to the letter, for in JSON a text in quotes has
 * no bearing on what it stands between.
 */
import { asObject, asText, parseJson } from "../wire/json.ts";
import { firstChoice } from "./message.ts";

/** Some providers put something new into every chunk, such as random padding: theirs are parsed. */
const attemptsMax = 8;
const opening = /"content": ?"/;
const probe = "probe";
/** What JSON writes otherwise than it is, and the end of a text. */
// oxlint-disable-next-line no-control-regex
const written = /["\\\u0000-\u001f]/;

export class ChunkTemplate {
  #before = "";
  #after = "";
  #attempts = 0;

  /** @returns the text of a chunk that is like the one that was learned; "" where it must be parsed */
  textOf(chunk: string): string {
    const { length: before } = this.#before;
    const end = chunk.length - this.#after.length;
    if (before === 0 || end <= before || !chunk.startsWith(this.#before) || !chunk.endsWith(this.#after)) return "";
    const text = chunk.slice(before, end);
    return written.test(text) ? "" : text;
  }

  /** @param text all that this chunk tells: the content of its first choice */
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
