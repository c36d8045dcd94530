/**
 * When a consumer takes its next batch. A batch that took long is followed by a longer rest, in which more events gather: under load
 * the batches become larger, and each event costs less, while a few events wait no longer than before.
 */
export interface Pace {
  /** Most events of one batch. After a full one the next comes at once. */
  messagesMax: number;
  /** Between the starts of two batches, at least; absent: 0. */
  everyMs?: number;
  /** Between the starts of two batches, at most; absent: `everyMs`. */
  everyMsMax?: number;
}

/** A consumer works for at most a fifth of the time, unless that would mean a longer rest than the pace allows. */
const timesItsWork = 5;

/** @returns milliseconds between the start of a batch, which took `workMs`, and the start of the next */
export function intervalAfter(workMs: number, { everyMs = 0, everyMsMax = everyMs }: Pace): number {
  return Math.min(Math.max(everyMs, workMs * timesItsWork), Math.max(everyMs, everyMsMax));
}
