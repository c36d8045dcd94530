/** A microbenchmark: how long one operation takes on an otherwise idle thread, with everything prepared. */

export interface Case {
  name: string;
  /** The number of units of one call. Figures are per unit. */
  units: number;
  call(): unknown;
  /** The CPU time that the servers of this case used so far; absent: it has none whose time is shown. */
  othersCpuSeconds?(): number;
}

export interface Microbenchmark {
  /** The name of a unit, such as "request". */
  unit: string;
  /** Prepares the cases. The stack is disposed after their measurement. */
  prepare(stack: AsyncDisposableStack): Promise<Case[]>;
}
