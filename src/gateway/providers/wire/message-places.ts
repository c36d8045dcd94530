/** Finds the message that a part of a turn was made from, for formats that join consecutive messages of one role. */
import type { ChatMessage } from "../provider.ts";
import type { JsonObject } from "./json.ts";

export interface Turn {
  role: string;
  parts: readonly JsonObject[];
}

export interface Place {
  message: ChatMessage;
  /** In the request. */
  index: number;
  /** null: the whole message. */
  part: JsonObject | null;
  /** Of the same message. */
  before: readonly JsonObject[];
}

/**
 * @param turnOf what a single message becomes; null: no turn
 * @param turn counted from 0. @param part of the turn; null: the turn itself, which stands for its first message
 * @returns null if there is no such turn
 */
export function placeOf(
  messages: readonly ChatMessage[],
  turnOf: (message: ChatMessage) => Turn | null,
  { turn, part }: { turn: number; part: number | null },
): Place | null {
  let at = -1;
  let role: string | null = null;
  let parts = 0;
  for (const [index, message] of messages.entries()) {
    const made = turnOf(message);
    if (made === null) continue;
    if (made.role !== role) {
      at++;
      role = made.role;
      parts = 0;
    }
    if (at > turn) return null;
    if (at === turn && part === null) return { message, index, part: null, before: [] };
    if (at === turn && part !== null && part < parts + made.parts.length) {
      return { message, index, part: made.parts[part - parts] ?? null, before: made.parts.slice(0, part - parts) };
    }
    parts += made.parts.length;
  }
  return null;
}

/** The part of a message's content that a text was made from: blank ones are not sent. @param texts how many come before it */
export function contentPath(content: unknown, texts: number): string[] {
  if (!Array.isArray(content)) return ["content"];
  const said = content.flatMap((part: { text?: unknown } | null, index) =>
    typeof part?.text === "string" && /\S/.test(part.text) ? [index] : [],
  );
  const index = said[texts];
  return index === undefined ? ["content"] : ["content", String(index)];
}
