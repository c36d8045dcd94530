/**
 * Bars by day, stacked by series, a meter and a sparkline, drawn on the server as SVG. The same numbers are in a table below or next to
 * them, and series differ in pattern as well as colour, so that a chart can be read without colours. Months, zones and sums come from the
 * pages.
 */
import { markup, type Html, trusted } from "../../http/html.ts";
import { table, type Column, day, shortDay, userText, type Content, content } from "./parts.ts";

interface BarChart {
  /** Unique on its page. */
  id: string;
  /** Such as "Spend by day and key". */
  title: string;
  /** YYYY-MM-DD, in order. */
  days: readonly string[];
  /** The time zone of the days, such as "UTC". */
  zone: string;
  series: readonly Series[];
  /** A value as text of the drawing. */
  words: (value: bigint) => string;
  /** A round value as a label of the scale; absent: the same as in the drawing. */
  scaleWords?: (value: bigint) => string;
  /** A value as a cell of the table; absent: the same as in the drawing. */
  exact?: (value: bigint) => Content;
  /** Shown instead of a chart without days or values. */
  empty: Html;
  /** Whether the table is shown at once, or opened by its summary. */
  tableOpen?: boolean;
}

/** The height of the plot, in pixels. Its width is that of the page, so widths are in percent. */
const height = 180;
const labelsMax = 6;

export function barChart({
  id,
  title,
  days,
  zone,
  series,
  words,
  scaleWords = words,
  exact = words,
  empty,
  tableOpen = false,
}: BarChart): Html {
  const drawn = drawnSeries(series);
  const totals = days.map((_, index) => sumOf(drawn.map(({ values }) => values[index] ?? 0n)));
  const highest = totals.reduce((top, total) => (total > top ? total : top), 0n);
  if (highest === 0n) return empty;
  const top = roundedTop(highest);
  return markup`<figure class="chart" aria-labelledby="${id}-title">
    <figcaption id="${id}-title">${title}</figcaption>
    ${drawn.length < 2 ? null : legend(id, drawn)}
    <div class="plot">
      ${scale(top, scaleWords)}
      <svg class="bars" width="100%" height="${height + 24}" role="img" aria-label="${title}; the table below has its numbers">
        ${patterns(id, drawn.length)}${[0, 1, 2].map((line) => markup`<line x1="0" x2="100%" y1="${lineAt(line)}" y2="${lineAt(line)}" />`)}
        ${days.map((date, index) => bar({ id, date, index, of: days.length, drawn, top, words }))}
      </svg>
    </div>
    <details${tableOpen ? markup` open` : null}><summary>These numbers as a table</summary>${numbers({ title, days, zone, drawn, totals, exact })}</details>
  </figure>`;
}

/** The height of a line: at the top of the plot, in the middle or at its bottom. */
function lineAt(line: number): number {
  return 8 + (line * (height - 8)) / 2;
}

function scale(top: bigint, words: (value: bigint) => string): Html {
  const texts = [top, top / 2n].map(
    (value, line) => markup`<text x="100%" y="${lineAt(line) + 4}" text-anchor="end">${words(value)}</text>`,
  );
  return markup`<svg class="scale" height="${height + 24}" aria-hidden="true">${texts}<text x="100%" y="${lineAt(2)}" text-anchor="end">0</text></svg>`;
}

interface Bar {
  id: string;
  date: string;
  index: number;
  /** How many bars there are. */
  of: number;
  drawn: readonly Series[];
  top: bigint;
  words: (value: bigint) => string;
}

function bar({ id, date, index, of, drawn, top, words }: Bar): Html {
  const slot = 100 / of;
  const gap = of > 1 ? slot * 0.2 : 30;
  const place = markup`x="${percent(index * slot + gap / 2)}" width="${percent(slot - gap)}"`;
  let from = height;
  const parts = drawn.flatMap(({ label, values }, number) => {
    const value = values[index] ?? 0n;
    if (value <= 0n) return [];
    // At least one pixel, so that any spend is visible.
    const size = Math.max(1, Number((value * BigInt((height - 8) * 100)) / top) / 100);
    from -= size;
    const rect = (fill: Html): Html => markup`<rect ${place} y="${from.toFixed(2)}" height="${size.toFixed(2)}" ${fill} />`;
    return [
      markup`<g><title>${day(date)}, ${label}: ${words(value)}</title>${rect(markup`class="series-${number}"`)}${number === 0 ? null : rect(markup`fill="url(#${id}-${number})"`)}</g>`,
    ];
  });
  return markup`${parts}${dayLabel({ date, index, of })}`;
}

/** The newest day always has a label. */
function dayLabel({ date, index, of }: Pick<Bar, "date" | "index" | "of">): Html | null {
  const every = Math.ceil(of / labelsMax);
  const age = of - 1 - index;
  if (age % every !== 0) return null;
  const [at, anchor] =
    age === 0 && of > 1 ? [100, "end"] : index === 0 && of > 1 ? [0, "start"] : [((index + 0.5) * 100) / of, "middle"];
  const second = (age / every) % 2 === 1 ? markup` class="second"` : null;
  return markup`<text${second} x="${percent(at)}" y="${height + 18}" text-anchor="${anchor}">${shortDay(date)}</text>`;
}

function percent(part: number): string {
  return `${Number(part.toFixed(3))}%`;
}

function legend(id: string, drawn: readonly Series[]): Html {
  const swatch = (number: number): Html =>
    markup`<svg width="12" height="12" aria-hidden="true"><rect width="12" height="12" rx="2" class="series-${number}" />${number === 0 ? null : markup`<rect width="12" height="12" rx="2" fill="url(#${id}-${number})" />`}</svg>`;
  return markup`<ul class="legend" role="list">${drawn.map(({ label }, number) => markup`<li>${swatch(number)}${userText(label)}</li>`)}</ul>`;
}

interface Numbers {
  title: string;
  days: readonly string[];
  zone: string;
  drawn: readonly Series[];
  totals: readonly bigint[];
  exact: (value: bigint) => Content;
}

/** The newest day first, as in all lists. */
function numbers({ title, days, zone, drawn, totals, exact }: Numbers): Html {
  const columns: Column<number>[] = [
    { label: `Day (${zone})`, kind: "time", cell: (index) => day(days[index] ?? "") },
    ...(drawn.length < 2
      ? []
      : drawn.map(({ label, values }): Column<number> => ({
          label,
          kind: "money",
          cell: (index) => exact(values[index] ?? 0n),
        }))),
    { label: "Total", kind: "money", cell: (index) => exact(totals[index] ?? 0n) },
  ];
  const sums = drawn.length < 2 ? [] : drawn.map(({ values }) => exact(sumOf(values)));
  return table({
    caption: `${title}, the newest day first`,
    columns,
    rows: days.map((_, index) => index).toReversed(),
    empty: markup``,
    totals: ["All days", ...sums, exact(sumOf(totals))],
  });
}

// What a chart draws: at most seven series, of which the smallest are drawn as one.

interface Series {
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

function sumOf(values: readonly bigint[]): bigint {
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

// Lines and dots over the colours of a chart, so that its series differ without them.

/** On a square of 6; the first series is plain. */
const drawings = ["M-1 7 7-1M-1 1 1-1M5 7 7 5", "M2 2h2v2H2z", "M0 3h6", "M-1-1 7 7M5-1 7 1M-1 5 1 7", "M3 0v6", "M0 3h6M3 0v6"];

/** @param id of the chart: pattern N is `#id-N` */
function patterns(id: string, count: number): Html {
  const drawn = drawings.slice(0, Math.max(0, count - 1));
  return markup`<defs>${drawn.map((path, index) => markup`<pattern id="${id}-${index + 1}" width="6" height="6" patternUnits="userSpaceOnUse"><path d="${trusted(path)}" /></pattern>`)}</defs>`;
}

// How much of a limit is used: a bar next to the same in words.

/** The fractions of a limit from which it needs attention. */
const warnPerMille = 800n;
const fullPerMille = 1_000n;

/**
 * @param of the limit; null draws no bar. Zero counts as used up.
 * @param reserved counts as used, and is drawn lighter
 */
export function meter({ used, reserved = 0n, of, words }: Meter): Html {
  if (of === null) return markup`<div class="meter">${content(words)}</div>`;
  const perMille = perMilleOf(used + reserved, of);
  const tone = perMille >= fullPerMille ? "bad" : perMille >= warnPerMille ? "warn" : "good";
  const behind = reserved > 0n ? meterBar("reserved", used + reserved, of) : null;
  return markup`<div class="meter ${tone}">${content(words)}<svg aria-hidden="true"><rect class="track" width="100%" height="6" rx="3" />${behind}${meterBar("used", used, of)}</svg></div>`;
}

interface Meter {
  used: bigint;
  reserved?: bigint;
  of: bigint | null;
  words: Content;
}

function meterBar(name: string, amount: bigint, of: bigint): Html {
  const perMille = perMilleOf(amount, of);
  const shown = perMille > fullPerMille ? fullPerMille : perMille < 0n ? 0n : perMille;
  // Any use is visible.
  const width = amount > 0n && shown < 10n ? 10n : shown;
  return markup`<rect class="${name}" width="${Number(width) / 10}%" height="6" rx="3" />`;
}

function perMilleOf(amount: bigint, of: bigint): bigint {
  return of <= 0n ? fullPerMille : (amount * 1_000n) / of;
}

// How a number developed, without axes, next to its value.

const sparkWidth = 120;
const sparkHeight = 28;

/** @param words describe the drawing, with its first, highest and last value, for readers who cannot see it */
export function sparkline(values: readonly number[], words: string): Html {
  const highest = Math.max(...values, 0);
  const step = values.length > 1 ? sparkWidth / (values.length - 1) : 0;
  const at = (value: number, index: number): string =>
    `${(index * step).toFixed(1)} ${(sparkHeight - 2 - (highest > 0 ? (value / highest) * (sparkHeight - 4) : 0)).toFixed(1)}`;
  const line = `M${values.map(at).join("L")}`;
  return markup`<svg class="spark" viewBox="0 0 ${sparkWidth} ${sparkHeight}" preserveAspectRatio="none" role="img" aria-label="${words}"><path class="area" d="${values.length > 1 ? `${line}L${sparkWidth} ${sparkHeight}L0 ${sparkHeight}Z` : ""}" /><path class="line" d="${values.length > 1 ? line : ""}" /></svg>`;
}
