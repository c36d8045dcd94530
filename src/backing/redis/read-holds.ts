/** Holds as the functions tell them: six words each. */
import type { Hold } from "../counters.ts";
import { ReplyWords, type Word } from "./reply-words.ts";

const keyMonth = /^k:(.*):(\d{4}-\d\d)$/;

export function readHolds(reply: readonly Word[]): Hold[] {
  const words = new ReplyWords(reply);
  const holds: Hold[] = [];
  while (!words.atEnd) holds.push(readHold(words));
  return holds;
}

function readHold(words: ReplyWords): Hold {
  const generation = words.text();
  const [, key = "", month = ""] = keyMonth.exec(words.text()) ?? [];
  const fingerprint = words.text();
  return { generation, key, month, fingerprint, amount: words.nano(), admittedAt: words.number(), deadline: words.number() };
}
