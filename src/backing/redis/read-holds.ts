/** Reads holds from a function's reply: six elements each. */
import type { Hold } from "../counters.ts";
import { ReplyReader, type ReplyElement } from "./reply-reader.ts";

const keyMonth = /^k:(.*):(\d{4}-\d\d)$/;

export function readHolds(reply: readonly ReplyElement[]): Hold[] {
  const reader = new ReplyReader(reply);
  const holds: Hold[] = [];
  while (!reader.atEnd) holds.push(readHold(reader));
  return holds;
}

function readHold(reader: ReplyReader): Hold {
  const generation = reader.text();
  const [, key = "", month = ""] = keyMonth.exec(reader.text()) ?? [];
  const fingerprint = reader.text();
  return { generation, key, month, fingerprint, amount: reader.nano(), admittedAt: reader.number(), deadline: reader.number() };
}
