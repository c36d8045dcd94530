/** Names of participants, for formats that have no field for them. */
import { asText } from "./json.ts";
import type { ChatMessage } from "../provider.ts";

/**
 * Puts the name before the text, as in minutes of a meeting, so that the model sees the speaker. The model's own messages stay
 * unchanged: otherwise the model would begin its next answer with the name.
 */
export function namedTexts({ role, name }: ChatMessage, texts: readonly string[]): readonly string[] {
  const [first, ...others] = texts;
  const speaker = role === "assistant" ? null : asText(name);
  return speaker && first !== undefined ? [`${speaker}: ${first}`, ...others] : texts;
}
