/** A state in a word, with a mark and a colour by its meaning. */
import { markup, type Html } from "../../http/html.ts";

/** `good` works, `warn` needs attention soon, `bad` is broken or final, `neutral` is none of these. */
export type Tone = "good" | "warn" | "bad" | "neutral";

/** The mark differs by tone too, so that the colour is not needed. */
export function badge(tone: Tone, word: string): Html {
  return markup`<span class="badge ${tone}">${word}</span>`;
}
