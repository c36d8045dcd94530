import type { Month } from "../../../kernel/clock.ts";
import type { Tombstones } from "./tombstones.ts";

/** The common data of all decisions of a batch. */
export interface Moment {
  now: number;
  /** The batch's month and its bounds in milliseconds. */
  month: Month;
  startMs: number;
  endMs: number;
  /** First millisecond of the batch's day. */
  day: number;
  tombstones: Tombstones;
}
