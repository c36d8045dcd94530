/** Counts durations in buckets of equal relative width: any percentile within 0.8 %, in constant memory. */

const bucketsPerDoubling = 64;
/** The range is a tenth of a microsecond to 20 minutes. */
const unitMs = 0.0001;
const buckets = Math.ceil(Math.log2(1_200_000 / unitMs)) * bucketsPerDoubling;

/** In milliseconds. */
export interface Summary {
  count: number;
  mean: number;
  min: number;
  p50: number;
  p90: number;
  p99: number;
  p999: number;
  max: number;
}

export interface CurvePoint {
  /** The share of all durations, 0 to 1. */
  share: number;
  /** The duration that this share does not exceed. */
  ms: number;
}

const stepsPerNine = 8;
/** Up to 99.999 %. */
const curveSteps = 5 * stepsPerNine;

export class Histogram {
  readonly #counts = new Uint32Array(buckets);
  #count = 0;
  #sum = 0;
  #min = Infinity;
  #max = 0;

  get count(): number {
    return this.#count;
  }

  /** @param ms below zero counts as zero */
  add(ms: number): void {
    const value = Math.max(ms, 0);
    const bucket = value <= unitMs ? 0 : Math.floor(Math.log2(value / unitMs) * bucketsPerDoubling);
    const place = Math.min(bucket, buckets - 1);
    this.#counts[place] = (this.#counts[place] ?? 0) + 1;
    this.#count++;
    this.#sum += value;
    if (value < this.#min) this.#min = value;
    if (value > this.#max) this.#max = value;
  }

  /** The duration that a share (0 to 1) of all does not exceed. NaN without durations. */
  quantile(share: number): number {
    if (this.#count === 0) return Number.NaN;
    const wanted = Math.max(1, Math.ceil(share * this.#count));
    let seen = 0;
    for (const [bucket, count] of this.#counts.entries()) {
      seen += count;
      if (seen >= wanted) return Math.min(Math.max(middleOf(bucket), this.#min), this.#max);
    }
    return this.#max;
  }

  /** null without durations. */
  summary(): Summary | null {
    if (this.#count === 0) return null;
    return {
      count: this.#count,
      mean: rounded(this.#sum / this.#count),
      min: rounded(this.#min),
      p50: rounded(this.quantile(0.5)),
      p90: rounded(this.quantile(0.9)),
      p99: rounded(this.quantile(0.99)),
      p999: rounded(this.quantile(0.999)),
      max: rounded(this.#max),
    };
  }

  /** Durations at shares that approach 1, eight for each further nine, for drawing a distribution. */
  curve(): CurvePoint[] {
    const shares = Array.from({ length: curveSteps + 1 }, (_, step) => 1 - 10 ** (-step / stepsPerNine));
    const drawn = shares.filter((share) => this.#count * (1 - share) >= 1);
    return drawn.map((share) => ({ share: Number(share.toFixed(6)), ms: rounded(this.quantile(share)) }));
  }

  /** Upper bounds and counts of doubling ranges for people, without empty ranges at both ends. */
  doublings(): { upToMs: number; count: number }[] {
    const rows: { upToMs: number; count: number }[] = [];
    for (let first = 0; first < buckets; first += bucketsPerDoubling) {
      const count = this.#counts.subarray(first, first + bucketsPerDoubling).reduce((sum, one) => sum + one, 0);
      rows.push({ upToMs: rounded(unitMs * 2 ** (first / bucketsPerDoubling + 1)), count });
    }
    const from = rows.findIndex(({ count }) => count > 0);
    return from === -1 ? [] : rows.slice(from, rows.findLastIndex(({ count }) => count > 0) + 1);
  }
}

function middleOf(bucket: number): number {
  return unitMs * 2 ** ((bucket + 0.5) / bucketsPerDoubling);
}

function rounded(ms: number): number {
  return Number(ms.toPrecision(4));
}
