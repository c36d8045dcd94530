/** A fault as it happened. Times are wall-clock milliseconds. */
import type { Fault } from "./fault.ts";

export interface Episode {
  faults: Fault[];
  injectedAt: number;
  healedAt: number;
}
