/** Faults that were injected together. Times are wall-clock milliseconds. */
import type { Fault } from "./fault.ts";

export interface Episode {
  faults: Fault[];
  injectedAt: number;
  healedAt: number;
}
