import { isDeepStrictEqual } from "node:util";
import { Notes, type Finding } from "./evidence.ts";
import { eventsOf, type History } from "./history.ts";

/** I-7: balance, holds, months and windows are the same after a refusal as before it. */
export function refusalsChangeNothing(history: History): Finding {
  const notes = new Notes();
  for (const { why, before, after, at } of eventsOf(history, "inspected")) {
    notes.check(isDeepStrictEqual(before, after), () => `${why} at ${at}: ${text(before)} became ${text(after)}`);
  }
  return notes;
}

function text(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) => (typeof inner === "bigint" ? String(inner) : inner)) ?? "nothing";
}
