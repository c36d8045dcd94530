import { Notes, type Finding } from "./evidence.ts";
import type { History } from "./history.ts";

/** In milliseconds. */
export const recoveryMsMax = 5_000;

/**
 * I-13: within five seconds of healing answers flow again, and in the end nothing is left over, with nobody having done anything.
 * Who heals must go on asking for longer than that.
 */
export function recovery(history: History): Finding {
  const notes = new Notes();
  for (const { ms, at } of recoveries(history)) {
    notes.check(ms <= recoveryMsMax, () => `healed at ${at}: the first answer came after ${ms} ms`);
  }
  const last = history.findLast(({ kind }) => kind === "quiet");
  if (last?.kind !== "quiet") notes.check(!history.some(({ kind }) => kind === "healed"), () => "it never became quiet");
  else {
    const { unsettled, backlog, unknownAdmissions, held } = last;
    const left = `${unsettled} unsettled, ${backlog} events and ${unknownAdmissions} unknown admissions are left`;
    notes.check(unsettled + backlog + unknownAdmissions === 0, () => left);
    if (held !== undefined) notes.check(held === 0, () => `${held} amounts are still set aside, for nobody`);
  }
  return notes;
}

/** How long each healing took to be felt; Infinity: it never was. */
export function recoveries(history: History): { at: number; ms: number }[] {
  return history.flatMap(({ kind, at }, index) => {
    if (kind !== "healed") return [];
    const answer = history.slice(index).find((event) => event.kind === "answered" && event.status === 200);
    return [{ at, ms: answer ? answer.at - at : Infinity }];
  });
}
