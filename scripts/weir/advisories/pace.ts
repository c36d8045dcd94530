/** How fast something goes, and how long the rest takes, for lines of progress. */

export class Pace {
  readonly #startMs: number;
  readonly #startAt: number;

  /** @param startAt what was done before the start, such as the bytes of an earlier download */
  constructor(startAt: number, nowMs: number) {
    this.#startAt = startAt;
    this.#startMs = nowMs;
  }

  /** Units per second since the start; 0: unknown. */
  rate(done: number, nowMs: number): number {
    const ms = nowMs - this.#startMs;
    return ms <= 0 ? 0 : ((done - this.#startAt) * 1_000) / ms;
  }

  /** Such as `12 s left`; empty while the rate or the total is unknown. */
  timeLeft({ done, total, nowMs }: { done: number; total: number | null; nowMs: number }): string {
    const rate = this.rate(done, nowMs);
    if (total === null || rate <= 0 || done > total) return "";
    const seconds = Math.ceil((total - done) / rate);
    return seconds < 120 ? `${seconds} s left` : `${Math.ceil(seconds / 60)} min left`;
  }
}

const mebibyte = 1024 * 1024;

/** Such as `npm: 12.0 of 240.0 MiB (5 %), 3.1 MiB/s, 74 s left`. */
export function downloadText(
  { name, done, total, nowMs }: { name: string; done: number; total: number | null; nowMs: number },
  pace: Pace,
): string {
  const size = (bytes: number) => (bytes / mebibyte).toFixed(1);
  const part =
    total === null || total === 0
      ? `${size(done)} MiB`
      : `${size(done)} of ${size(total)} MiB (${Math.floor((100 * done) / total)} %)`;
  const left = pace.timeLeft({ done, total, nowMs });
  return [`${name}: ${part}`, `${size(pace.rate(done, nowMs))} MiB/s`, ...(left === "" ? [] : [left])].join(", ");
}
