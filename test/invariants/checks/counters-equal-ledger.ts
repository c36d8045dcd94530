import { budgetText } from "../../support/counters/harness.ts";
import { Notes, type Finding, type Settled } from "../evidence.ts";

/** I-10: at the end of a run the counters equal the ledger: balance, sequence, and the totals that they have. */
export function countersEqualLedger(settled: Settled[]): Finding {
  const notes = new Notes();
  for (const { workspace, counters, account, keyMonths, budgets = [] } of settled) {
    if (!counters.ready) continue;
    const { balance, sequence } = counters.account;
    const isHead = balance === String(account.balance) && sequence === String(account.sequence);
    notes.check(isHead, () => {
      return `${workspace}: counters at ${sequence} with ${balance}, ledger at ${account.sequence} with ${account.balance}`;
    });
    const totals = [...account.months.map((total) => ({ key: "", ...total })), ...keyMonths];
    for (const { key, month, spent } of totals) {
      const known = counters.totals[`${key}:${month}`]?.spent ?? null;
      if (known === null) continue;
      notes.check(
        known === String(spent),
        () => `${workspace}, ${key}:${month}: counters have ${known}, the ledger has ${spent}`,
      );
    }
    for (const budget of budgets) {
      const known = counters.totals[budgetText(budget)]?.spent ?? null;
      if (known === null) continue;
      notes.check(known === String(budget.spent), () => {
        return `${workspace}, ${budgetText(budget)}: counters have ${known}, the ledger has ${budget.spent}`;
      });
    }
  }
  return notes;
}
