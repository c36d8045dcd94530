/** What the check of one invariant found. */
export interface Finding {
  rows: bigint;
  /** What breaks the invariant and where; null: it holds. */
  broken: string | null;
}
