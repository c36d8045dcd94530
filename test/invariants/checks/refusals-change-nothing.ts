import { isDeepStrictEqual } from "node:util";
import { Notes, type Finding } from "../evidence.ts";
import { eventsOf, type History } from "../history.ts";

/** I-7: a refusal changes no balance, hold, monthly total or rate window. */
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
