import { Notes, type Finding } from "../evidence.ts";
import type { History } from "../history.ts";

/** The longest time to recover, in milliseconds. */
export const recoveryMsMax = 5_000;

/**
 * I-13: answers succeed again within five seconds after a fault, and in the end no work remains, without any action of an operator.
 * A harness must send requests for longer than that.
 */
export function recovery(history: History): Finding {
  const notes = new Notes();
  for (const { ms, at } of recoveries(history)) {
    notes.check(ms <= recoveryMsMax, () => `fault ended at ${at}: the first answer came after ${ms} ms`);
  }
  const last = history.findLast(({ kind }) => kind === "quiet");
  if (last?.kind !== "quiet") notes.check(!history.some(({ kind }) => kind === "healed"), () => "the run never became quiet");
  else {
    const { unsettled, backlog, unknownAdmissions, held } = last;
    const left = `${unsettled} unsettled, ${backlog} events and ${unknownAdmissions} unknown admissions remain`;
    notes.check(unsettled + backlog + unknownAdmissions === 0, () => left);
    if (held !== undefined) notes.check(held === 0, () => `${held} holds remain without an owner`);
  }
  return notes;
}

/** The time from the end of each fault to the first answer; Infinity: there was none. */
export function recoveries(history: History): { at: number; ms: number }[] {
  return history.flatMap(({ kind, at }, index) => {
    if (kind !== "healed") return [];
    const answer = history.slice(index).find((event) => event.kind === "answered" && event.status === 200);
    return [{ at, ms: answer ? answer.at - at : Infinity }];
  });
}
