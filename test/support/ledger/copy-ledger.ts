/** A ledger in memory as a backup has it. */
import type { MemoryLedger } from "../gateway/memory-ledger.ts";

/** @returns a function that restores the ledger as it is now, on another server */
export function backUp(ledger: MemoryLedger): () => void {
  const accounts = [...ledger.accounts].map(([name, account]) => {
    return [name, { ...account, entries: account.entries.map((entry) => ({ ...entry })) }] as const;
  });
  const { charges, workspaceMonths, keyMonths, budgetTotals, epochs } = ledger;
  const copies = [charges, workspaceMonths, budgetTotals].map((map) => [map, [...map]] as const);
  const keys = [...keyMonths].map(([name, total]) => [name, { ...total }] as const);
  const rows = [...epochs.rows].map(([name, row]) => [name, { ...row }] as const);
  const { replayedOn } = epochs;
  return () => {
    refill(ledger.accounts, accounts);
    for (const [map, copy] of copies) refill<string, unknown>(map, copy);
    refill(keyMonths, keys);
    refill(epochs.rows, rows);
    epochs.server++;
    epochs.replayedOn = replayedOn;
  };
}

function refill<K, V>(map: Map<K, V>, entries: Iterable<readonly [K, V]>): void {
  map.clear();
  for (const [key, value] of entries) map.set(key, value);
}
