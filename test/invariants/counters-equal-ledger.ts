import { Notes, type Finding, type Settled } from "./evidence.ts";

/** I-10: once all is quiet the counters say what the ledger says: balance, sequence, and of the months what they know of them. */
export function countersEqualLedger(settled: Settled[]): Finding {
  const notes = new Notes();
  for (const { workspace, counters, account, keyMonths } of settled) {
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
        () => `${workspace}, ${key}:${month}: counters know of ${known}, the ledger of ${spent}`,
      );
    }
  }
  return notes;
}
