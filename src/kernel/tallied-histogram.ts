/**
 * A histogram with at most one label that counts a value with a few additions. The metrics library checks and hashes the labels for
 * each value, which for the three values of a request was 1 % of the gateway's time. Counters between scrapes (`Tally`) do the same by
 * two labels. Both give their counts to the library when it is scraped, so its output stays the only one.
 */
import { Histogram, type HistogramConfiguration } from "prom-client";

interface Counts {
  /** The count of each bucket alone; the last one has what is above all bounds. */
  buckets: number[];
  sum: number;
  count: number;
}

/** A value as the library shows it. */
interface Shown {
  metricName: string;
  labels: Record<string, string | number>;
  sharedLabels: Record<string, string>;
  value: number;
}

interface Options extends Pick<HistogramConfiguration<string>, "name" | "help" | "registers"> {
  /** The upper bounds in ascending order. */
  buckets: readonly number[];
  /** Absent: it has no label. */
  label?: string;
}

export class TalliedHistogram extends Histogram {
  readonly #name: string;
  readonly #help: string;
  readonly #bounds: readonly number[];
  readonly #label: string | null;
  /** By the label's value. */
  readonly #counts = new Map<string, Counts>();

  constructor({ name, help, registers, buckets, label }: Options) {
    super({ name, help, buckets: [...buckets], labelNames: label === undefined ? [] : [label], ...(registers && { registers }) });
    this.#name = name;
    this.#help = help;
    this.#bounds = buckets;
    this.#label = label ?? null;
    if (label === undefined) this.#countsOf("");
  }

  /** @param value of the label; absent: the histogram has none */
  count(measured: number, value = ""): void {
    const counts = this.#countsOf(value);
    let bucket = 0;
    while (bucket < this.#bounds.length && measured > (this.#bounds[bucket] ?? 0)) bucket++;
    counts.buckets[bucket] = (counts.buckets[bucket] ?? 0) + 1;
    counts.sum += measured;
    counts.count++;
  }

  /** The library writes what this returns, and makes the answer of `get` from it. */
  async getForPromString() {
    const values = [...this.#counts].flatMap(([value, counts]) => this.#shown(value, counts));
    return { name: this.#name, help: this.#help, type: "histogram", aggregator: "sum", values };
  }

  #countsOf(value: string): Counts {
    const known = this.#counts.get(value);
    if (known) return known;
    const made = { buckets: this.#bounds.map(() => 0), sum: 0, count: 0 };
    this.#counts.set(value, made);
    return made;
  }

  #shown(value: string, { buckets, sum, count }: Counts): Shown[] {
    const sharedLabels: Shown["sharedLabels"] = this.#label === null ? {} : { [this.#label]: value };
    const series = (end: string, labels: Shown["labels"], shown: number): Shown => {
      return { metricName: `${this.#name}_${end}`, labels, sharedLabels, value: shown };
    };
    let below = 0;
    return [
      ...this.#bounds.map((le, bucket) => series("bucket", { le }, (below += buckets[bucket] ?? 0))),
      series("bucket", { le: "+Inf" }, count),
      series("sum", {}, sum),
      series("count", {}, count),
    ];
  }
}

/** Counts by two labels between scrapes. */
export class Tally<First, Second> {
  readonly #counts = new Map<First, Map<Second, number>>();

  add(first: First, second: Second): void {
    const counts = this.#counts.get(first);
    if (counts === undefined) this.#counts.set(first, new Map([[second, 1]]));
    else counts.set(second, (counts.get(second) ?? 0) + 1);
  }

  /** The counts since the last call. */
  drain(): [First, Second, number][] {
    const drained: [First, Second, number][] = [];
    for (const [first, counts] of this.#counts) for (const [second, count] of counts) drained.push([first, second, count]);
    this.#counts.clear();
    return drained;
  }
}
