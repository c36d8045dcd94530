/** What each file here asks: how long one thing takes, alone on a thread, with everything that it needs already there. */

export interface Case {
  name: string;
  /** How many units one call does: the figures are per unit. */
  units: number;
  call(): unknown;
}

export interface Microbenchmark {
  /** What a unit is, such as "request". */
  unit: string;
  /** Makes what the cases need; disposed when they are measured. */
  prepare(stack: AsyncDisposableStack): Promise<Case[]>;
}
