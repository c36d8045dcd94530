/** The contents of the database before a measurement. */

export interface Population {
  name: "hot" | "spread";
  workspaces: number;
  keys: number;
  /** The number of settled generations, each with its charge, ledger entry and log row. */
  generations: number;
}

export const populations: Population[] = [
  { name: "hot", workspaces: 1, keys: 200, generations: 1_000_000 },
  { name: "spread", workspaces: 1_000, keys: 10_000, generations: 1_000_000 },
];

/** The highest rate that the specification allows for a key. */
export const requestsPerMinute = 10_000;
export const creditUsd = 1_000_000n;
/** Increased when the plan changes, so that older data is loaded again. */
export const planVersion = 3;
