/** A hold as Redis keeps it: fingerprint|amount|key|month|admitted at|deadline. */
import type { Hold } from "../../counters.ts";
import type { GenerationId } from "../../../kernel/ids.ts";
import { ReplyWords } from "./reply-words.ts";

export function holdRecord({ fingerprint, amount, key, month, admittedAt, deadline }: Hold): string {
  return [fingerprint, amount, key, month, admittedAt, deadline].join("|");
}

export function readHold(generation: GenerationId, record: string): Hold {
  const words = new ReplyWords(record.split("|"));
  return {
    generation,
    fingerprint: words.text(),
    amount: words.nano(),
    key: words.text(),
    month: words.text(),
    admittedAt: words.number(),
    deadline: words.number(),
  };
}

/** @param replies generation and record in turn */
export function readHolds(replies: readonly string[]): Hold[] {
  const words = new ReplyWords(replies);
  const holds: Hold[] = [];
  while (!words.atEnd) holds.push(readHold(words.text(), words.text()));
  return holds;
}
