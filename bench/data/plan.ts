/** What is in the database before anything is measured. */

export interface Population {
  name: "hot" | "spread";
  workspaces: number;
  keys: number;
  /** Settled generations, each with its charge, ledger entry and log row. */
  generations: number;
}

export const populations: Population[] = [
  { name: "hot", workspaces: 1, keys: 200, generations: 1_000_000 },
  { name: "spread", workspaces: 1_000, keys: 10_000, generations: 1_000_000 },
];

/** The most that the specification grants a key. */
export const requestsPerMinute = 10_000;
export const creditUsd = 1_000_000n;
/** Raised when what is loaded changes, so that older data is loaded anew. */
export const planVersion = 1;
