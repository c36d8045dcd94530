import type { Dump } from "../../support/counters/harness.ts";
import { Notes, type Finding, type Settled } from "../evidence.ts";

/** I-9: the reserved totals of the counters, in all, by month and key and by budget, always equal the sum of their holds. */
export function countersConserve(workspace: string, { account, totals, holds, deadlines }: Dump): Finding {
  const notes = new Notes();
  const sums = new Map<string, bigint>();
  const add = (name: string, amount: bigint) => sums.set(name, (sums.get(name) ?? 0n) + amount);
  for (const [generation, record] of Object.entries(holds)) {
    const [, amount = "0", key, month, , deadline, budgets = ""] = record.split("|");
    // A budget is in one period at a time; holds of earlier ones count no longer.
    const counting = budgets.split(",").filter((budget) => budget in totals);
    for (const name of ["reserved", `:${month}`, `${key}:${month}`, ...counting]) add(name, BigInt(amount));
    notes.check(deadlines[generation] === Number(deadline), () => `${workspace}: the sweeper cannot find ${generation}`);
  }
  notes.check(Object.keys(deadlines).length === Object.keys(holds).length, () => `${workspace}: deadlines without holds`);
  const held = new Map([["reserved", account.reserved]]);
  for (const [name, total] of Object.entries(totals)) held.set(name, total.held);
  for (const name of new Set([...sums.keys(), ...held.keys()])) {
    const sum = String(sums.get(name) ?? 0n);
    notes.check(
      (held.get(name) ?? "0") === sum,
      () => `${workspace}, ${name}: ${held.get(name) ?? "nothing"} held, but the holds sum up to ${sum}`,
    );
  }
  return notes;
}

/** I-9, at the end of a run: the counters have no hold. */
export function nothingIsHeld(settled: Settled[]): Finding {
  const notes = new Notes();
  for (const { workspace, counters } of settled) {
    const { checks, broken } = countersConserve(workspace, counters);
    notes.checks += checks;
    notes.broken.push(...broken);
    const { reserved } = counters.account;
    notes.check(reserved === "0", () => `${workspace}: ${reserved} is still held, by ${Object.keys(counters.holds).join(", ")}`);
  }
  return notes;
}
