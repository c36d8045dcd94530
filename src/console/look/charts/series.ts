/** What a chart draws: at most seven series, of which the smallest are drawn as one. */

export interface Series {
  label: string;
  /** One for each day, from 0. */
  values: readonly bigint[];
}

/** As many as there are colours with a pattern. */
const seriesMax = 7;

/** @returns the largest first; of more than seven, the rest as one at the end */
export function drawnSeries(all: readonly Series[]): Series[] {
  const sorted = all.toSorted(
    (one, other) => Number(sumOf(other.values) > sumOf(one.values)) - Number(sumOf(other.values) < sumOf(one.values)),
  );
  if (sorted.length <= seriesMax) return sorted;
  const rest = sorted.slice(seriesMax - 1);
  const days = rest[0]?.values.length ?? 0;
  const values = Array.from({ length: days }, (_, day) => sumOf(rest.map((series) => series.values[day] ?? 0n)));
  return [...sorted.slice(0, seriesMax - 1), { label: `${rest.length} others`, values }];
}

export function sumOf(values: readonly bigint[]): bigint {
  return values.reduce((sum, value) => sum + value, 0n);
}

/** A round number at or above the highest, whose half is round too. At least 1. */
export function roundedTop(highest: bigint): bigint {
  let step = 1n;
  while (step * 10n <= highest) step *= 10n;
  const tenths = step >= 10n ? [10n, 12n, 16n, 20n, 24n, 30n, 40n, 50n, 60n, 80n] : [10n, 20n, 40n, 60n, 80n];
  const tops = tenths.map((part) => (step * part) / 10n);
  return tops.find((top) => top >= highest) ?? step * 10n;
}
