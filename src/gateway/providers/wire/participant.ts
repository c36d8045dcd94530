/** Names of participants, for formats that have no place for them. */
import { asText } from "./json.ts";
import type { ChatMessage } from "../provider.ts";

/**
 * Puts the name before what is said, as in the minutes of a meeting, so that the model sees who speaks. A model's own words stay as they
 * were: it would take the name for a part of them and begin its next answer with it.
 */
export function namedTexts({ role, name }: ChatMessage, texts: readonly string[]): readonly string[] {
  const [first, ...others] = texts;
  const speaker = role === "assistant" ? null : asText(name);
  return speaker && first !== undefined ? [`${speaker}: ${first}`, ...others] : texts;
}
