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
  /** The kind of the part; null: the whole message. */
  kind: string | null;
  /** How many parts of this kind come before it in what was made of the message. */
  nth: number;
}

interface Conversation {
  messages: readonly ChatMessage[];
  /** The turns as they were sent. They may begin with one that no message made. */
  turnsOf(messages: readonly ChatMessage[]): readonly Turn[];
  /** What a message becomes on its own; null: nothing. */
  turnOf(message: ChatMessage): Turn | null;
  kindOf(part: JsonObject): string;
  /** It may have been sent with parts that `turnsOf` does not know, so no part of its turn is named. */
  hasUnknownParts?(message: ChatMessage): boolean;
}

/** What a conversation was converted to. */
interface Converted {
  sent: readonly Turn[];
  made: readonly { message: ChatMessage; index: number; turn: Turn }[];
}

type PlaceOf = (at: { turn: number; part: number | null }) => Place | null;

/** As `placeIn`. The conversation is converted when the first place is asked for, and once. */
export function placesOf(conversation: Conversation): PlaceOf {
  let converted: Converted | null = null;
  return (at) => placeIn((converted ??= convert(conversation)), at, conversation);
}

function convert({ messages, turnsOf, turnOf }: Conversation): Converted {
  const made = messages.flatMap((message, index) => {
    const turn = turnOf(message);
    return turn === null ? [] : [{ message, index, turn }];
  });
  return { sent: turnsOf(messages), made };
}

/**
 * Parts are found by their kind and count, since a turn may have some that its messages on their own would not.
 * @param at the turn, counted from 0, and its part; null: the turn itself, which stands for its first message
 * @returns null if no message made such a turn, or it is not known which one made the part
 */
function placeIn(
  { sent, made }: Converted,
  at: { turn: number; part: number | null },
  { kindOf, hasUnknownParts }: Conversation,
): Place | null {
  let number = made[0]?.turn.role === sent[0]?.role ? 0 : 1;
  let before: string | null = null;
  const ofTurn = made.filter(({ turn: { role } }) => {
    if (before !== null && role !== before) number++;
    before = role;
    return number === at.turn;
  });
  const [first] = ofTurn;
  if (first === undefined) return null;
  const whole = { message: first.message, index: first.index, kind: null, nth: 0 };
  const parts = sent[at.turn]?.parts ?? [];
  const part = at.part === null ? undefined : parts[at.part];
  if (part === undefined || at.part === null) return whole;
  if (ofTurn.some(({ message }) => hasUnknownParts?.(message))) return ofTurn.length === 1 ? whole : null;
  const kind = kindOf(part);
  let nth = parts.slice(0, at.part).filter((one) => kindOf(one) === kind).length;
  for (const { message, index, turn } of ofTurn) {
    const count = turn.parts.filter((one) => kindOf(one) === kind).length;
    if (nth < count) return { message, index, kind, nth };
    nth -= count;
  }
  return whole;
}

/** The part of a message's content that a text was made from: blank ones are not sent. @param nth of the texts that are */
export function contentPath(content: unknown, nth: number): string[] {
  if (!Array.isArray(content)) return ["content"];
  const said = content.flatMap((part: { text?: unknown } | null, index) =>
    typeof part?.text === "string" && /\S/.test(part.text) ? [index] : [],
  );
  const index = said[nth];
  return index === undefined ? ["content"] : ["content", String(index)];
}
