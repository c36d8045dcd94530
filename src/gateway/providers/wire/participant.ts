/** Who speaks in a message: names, for formats that have no field for them, and instructions. */
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

/** Whether a message tells the model what to do, in place of saying something to it. */
export function isInstruction({ role }: ChatMessage): boolean {
  return role === "system" || role === "developer";
}
