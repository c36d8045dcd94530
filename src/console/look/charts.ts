/**
 * Charts that are drawn on the server as SVG: bars by period, stacked by series, or lines; with the period before in grey, a dashed limit
 * and a forecast; a meter and a sparkline. The same numbers are in a table below, and each period leads to what is behind it, so that a
 * chart works without a script, without colours and by keyboard. charts.js adds the card at the pointer, which shows a row of the table,
 * and moves the focus between periods by the arrow keys. charts.css has colours; the patterns over them are for print and for readers who
 * ask for contrast. Ranges, zones and sums come from the pages.
 *
 * The drawing is 1,000 units wide and stretched to the page, so that all of it, lines too, follows the window without a script.
 */
import { markup, type Html, trusted } from "../../http/html.ts";
import { asset } from "../../http/page.ts";
import { table, type Column, userText, type Content, content } from "./parts.ts";

export interface Chart {
  /** Unique on its page. */
  id: string;
  /** Such as "Spend in November 2026 by day and key". */
  title: string;
  /** Bars are stacked, so they are for sums. Lines are for values of which there is no sum. */
  shape: "bars" | "lines";
  /** Whether the series are the severities, from critical to unknown, which have colours of their own. */
  ofSeverities?: boolean;
  /** What the periods are, such as "Day (UTC)". */
  periodName: string;
  periods: readonly ChartPeriod[];
  series: readonly Series[];
  /** A last column of the table. Absent: there is none. */
  sums?: Series;
  /** The period before, drawn in grey and with its own column. */
  before?: Series | null;
  limit?: { value: bigint; label: string } | null;
  /** What is expected in periods that have not begun; null: nothing. */
  forecast?: readonly (bigint | null)[] | null;
  /** A value as text of the drawing. */
  words: (value: bigint) => string;
  /** A round value as a label of the scale; absent: the same as in the drawing. */
  scaleWords?: (value: bigint) => string;
  /** A value as a cell of the table; absent: the same as in the drawing. */
  exact?: (value: bigint) => Content;
  /** The kind of the table's cells. */
  kind?: "money" | "number";
  /** Sentences below the drawing. */
  notes?: readonly Content[];
  /** Shown instead of a chart without periods or values. */
  empty: Html;
  /** Whether the table is shown at once, or opened by its summary. */
  tableOpen?: boolean;
}

export interface ChartPeriod {
  /** Such as "24 Nov 2026". */
  name: string;
  /** Such as "24 Nov". */
  short: string;
  /** The page with what is behind it; null: none. */
  path: string | null;
  /** It is drawn without values, and not in the table. */
  isFuture?: boolean;
}

export interface Series {
  label: string;
  /** One for each period; null: there is none. */
  values: readonly (bigint | null)[];
  /** Of all periods; absent: their sum. */
  total?: bigint | null;
}

/** The script of pages with a chart. */
export const chartScript = asset("script", [new URL("charts.js", import.meta.url)]);

/** The height of the plot, in pixels, and the width of its coordinates. */
const height = 180;
const width = 1_000;
const labelsMax = 6;

export function chart(given: Chart): Html {
  const { id, title, periods, notes = [], tableOpen = false, scaleWords = given.words } = given;
  const drawn = given.shape === "bars" ? drawnSeries(given.series) : [...given.series];
  const highest = highestOf(given, drawn);
  if (highest === 0n) return given.empty;
  const top = roundedTop(withLimit(highest, given));
  const plot: Plot = { ...given, drawn, top };
  return markup`<figure class="chart${given.ofSeverities === true ? " severities" : ""}" aria-labelledby="${id}-title">
    <figcaption id="${id}-title">${title}</figcaption>
    ${legend(plot)}
    <div class="plot">
      ${scale(top, scaleWords)}
      <svg class="bars" width="100%" height="${height + 24}" role="group" aria-label="${title}; the table below has its numbers">
        ${[0, 1, 2].map((line) => markup`<line x1="0" x2="100%" y1="${lineAt(line)}" y2="${lineAt(line)}" />`)}
        <svg viewBox="0 0 ${width} ${height}" width="100%" height="${height}" preserveAspectRatio="none">
          ${patterns(id, drawn.length)}${periods.map((period, index) => slot(plot, period, index))}${shapes(plot)}
        </svg>
        ${limitLabel(plot)}${periods.map(({ short }, index) => periodLabel({ short, index, of: periods.length }))}
      </svg>
    </div>
    ${notes.length === 0 ? null : markup`<ul class="notes" role="list">${notes.map((note) => markup`<li>${content(note)}</li>`)}</ul>`}
    <details${tableOpen ? markup` open` : null}><summary>These numbers as a table</summary>${numbers(plot)}</details>
  </figure>`;
}

interface Plot extends Chart {
  drawn: readonly Series[];
  /** The value at the top of the scale. */
  top: bigint;
}

function highestOf({ shape, periods, before, forecast }: Chart, drawn: readonly Series[]): bigint {
  const values = drawn.map((series) => series.values);
  const own = shape === "bars" ? periods.map((_, index) => sumOf(values.map((all) => all[index] ?? 0n))) : values.flat();
  if (own.every((value) => (value ?? 0n) <= 0n)) return 0n;
  return [...own, ...(before?.values.slice(0, periods.length) ?? []), ...(forecast ?? [])].reduce<bigint>(
    (highest, value) => (value !== null && value > highest ? value : highest),
    0n,
  );
}

/** A limit far above all values would press them to the ground, so it is only named in a note. */
const limitTimesMax = 3n;

function withLimit(highest: bigint, { limit }: Chart): bigint {
  return limit && limit.value > highest && limit.value <= highest * limitTimesMax ? limit.value : highest;
}

// The drawing

/** The height of a line: at the top of the plot, in the middle or at its bottom. */
function lineAt(line: number): number {
  return 8 + (line * (height - 8)) / 2;
}

function scale(top: bigint, words: (value: bigint) => string): Html {
  // The half of one is no whole number.
  const texts = (top % 2n === 0n ? [top, top / 2n] : [top]).map(
    (value, line) => markup`<text x="100%" y="${lineAt(line) + 4}" text-anchor="end">${words(value)}</text>`,
  );
  return markup`<svg class="scale" height="${height + 24}" aria-hidden="true">${texts}<text x="100%" y="${lineAt(2) + 4}" text-anchor="end">0</text></svg>`;
}

/** A period's place for the pointer and the focus. The script makes the newest one reachable by Tab; the table has the same links. */
function slot(plot: Plot, { name, path, isFuture = false }: ChartPeriod, index: number): Html {
  const of = plot.periods.length;
  const rect = markup`<rect x="${coordinate((index * width) / of)}" width="${coordinate(width / of)}" height="${height}" />`;
  if (isFuture) return markup`<g>${forecastTitle(plot, { name, index })}${rect}</g>`;
  const title = markup`<title>${name}: ${slotWords(plot, index)}</title>`;
  const row = plot.periods.filter(({ isFuture: future = false }, later) => later > index && !future).length;
  const place = markup`class="slot" data-row="${row}"`;
  return path === null
    ? markup`<g ${place}>${title}${rect}</g>`
    : markup`<a ${place} href="${path}" tabindex="-1">${title}${rect}</a>`;
}

function slotWords({ shape, drawn, words }: Plot, index: number): string {
  const values = drawn.map(({ label, values: all }) => ({ label, value: all[index] ?? null }));
  if (shape === "bars") return words(sumOf(values.map(({ value }) => value ?? 0n)));
  return values.map(({ label, value }) => `${label} ${value === null ? "–" : words(value)}`).join(", ");
}

function forecastTitle({ forecast, words }: Plot, { name, index }: { name: string; index: number }): Html | null {
  const value = forecast?.[index] ?? null;
  return value === null ? null : markup`<title>${name}, expected: ${words(value)}</title>`;
}

function shapes(plot: Plot): Html {
  const { shape, limit, top } = plot;
  const dashed = limit && limit.value <= top ? markup`<path class="limit" d="M0 ${y(limit.value, top)}H${width}" />` : null;
  return markup`<g class="shapes">${shape === "bars" ? barShapes(plot) : lineShapes(plot)}${dashed}</g>`;
}

/** One path for each series, below it the period before over the whole width of each period. */
function barShapes({ id, drawn, periods, before, forecast, top }: Plot): Html {
  const of = periods.length;
  const bases = periods.map(() => height);
  const grey = before ? bars(before.values.slice(0, of), { of, top, share: 1, bases: periods.map(() => height) }) : "";
  const stacked = drawn.map(({ values }) => bars(values, { of, top, share: of > 1 ? 0.72 : 0.4, bases }));
  const expected = forecast ? bars(forecast, { of, top, share: 0.72, bases: periods.map(() => height) }) : "";
  const pattern = (d: string, number: number): Html | null =>
    number === 0 ? null : markup`<path class="pattern" d="${d}" fill="url(#${id}-${number})" />`;
  return markup`${grey === "" ? null : markup`<path class="before" d="${grey}" />`}${stacked.map((d, number) => markup`<path class="series-${number}" d="${d}" />${pattern(d, number)}`)}${expected === "" ? null : markup`<path class="forecast" d="${expected}" />`}`;
}

interface Bars {
  of: number;
  top: bigint;
  /** The part of a period's width that a bar takes. */
  share: number;
  /** The y of each bar's foot, which becomes that of the next bar on it. */
  bases: number[];
}

function bars(values: readonly (bigint | null)[], { of, top, share, bases }: Bars): string {
  const slotWidth = width / of;
  return values
    .map((value, index) => {
      if (value === null || value <= 0n) return "";
      // At least a pixel, so that any value is visible.
      const size = Math.max(1, height - Number(y(value, top)));
      const base = bases[index] ?? height;
      bases[index] = base - size;
      // A gap of a pixel between the parts of a bar.
      const shown = size > 3 && base < height ? size - 1 : size;
      const x = coordinate((index + (1 - share) / 2) * slotWidth);
      return `M${x} ${coordinate(base - size)}h${coordinate(slotWidth * share)}v${coordinate(shown)}h${coordinate(-slotWidth * share)}z`;
    })
    .join("");
}

function lineShapes({ drawn, periods, before, forecast, top }: Plot): Html {
  const of = periods.length;
  const path = (kind: string, values: readonly (bigint | null)[]): Html =>
    markup`<path class="${kind}" d="${line(values, { of, top })}" />`;
  return markup`${before ? path("line before", before.values.slice(0, of)) : null}${forecast ? path("line forecast", forecast) : null}${drawn.map(({ values }, number) => path(`line line-${number}`, values))}`;
}

/** A value alone is a dot: a line of no length with round ends. */
function line(values: readonly (bigint | null)[], { of, top }: Pick<Bars, "of" | "top">): string {
  let isOn = false;
  return values
    .map((value, index) => {
      const step =
        value === null
          ? ""
          : `${isOn ? "L" : "M"}${coordinate(((index + 0.5) * width) / of)} ${y(value, top)}${isOn ? "" : "h0"}`;
      isOn = value !== null;
      return step;
    })
    .join("");
}

function y(value: bigint, top: bigint): number {
  return coordinate(height - Number((value * BigInt((height - 8) * 100)) / top) / 100);
}

function coordinate(value: number): number {
  return Number(value.toFixed(2));
}

function limitLabel({ limit, top }: Plot): Html | null {
  if (!limit || limit.value > top) return null;
  return markup`<text class="of-limit" x="100%" y="${y(limit.value, top) - 4}" text-anchor="end">${limit.label}</text>`;
}

/** The last period always has a label. */
function periodLabel({ short, index, of }: { short: string; index: number; of: number }): Html {
  const every = Math.ceil(of / labelsMax);
  const age = of - 1 - index;
  if (age % every !== 0) return markup``;
  const [at, anchor] =
    age === 0 && of > 1 ? [100, "end"] : index === 0 && of > 1 ? [0, "start"] : [((index + 0.5) * 100) / of, "middle"];
  const second = (age / every) % 2 === 1 ? markup` class="second"` : null;
  return markup`<text${second} x="${coordinate(at)}%" y="${height + 18}" text-anchor="${anchor}">${short}</text>`;
}

function legend({ id, drawn, shape, sums, before, forecast }: Plot): Html | null {
  const entry = (kind: string, label: Content, over: Html | null = null): Html =>
    markup`<li><svg width="12" height="12" aria-hidden="true"><rect width="12" height="12" rx="2" class="${kind}" />${over}</svg>${content(label)}</li>`;
  const pattern = (number: number): Html | null =>
    number === 0 || shape === "lines"
      ? null
      : markup`<rect class="pattern" width="12" height="12" rx="2" fill="url(#${id}-${number})" />`;
  const all = [
    ...(isOnlySum({ drawn, sums }) || (drawn.length < 2 && !sums)
      ? []
      : drawn.map(({ label }, number) => entry(`series-${number}`, userText(label), pattern(number)))),
    ...(before ? [entry("before", before.label)] : []),
    ...(forecast ? [entry("forecast", "Forecast")] : []),
  ];
  return all.length === 0 ? null : markup`<ul class="legend" role="list">${all}</ul>`;
}

// The numbers as a table, the newest period first, as in all lists.

function numbers({ title, periodName, periods, drawn, sums, before, exact: given, words, kind = "money" }: Plot): Html {
  const exact = given ?? words;
  const cellOf = (value: bigint | null | undefined): Content | null =>
    value === null || value === undefined ? null : exact(value);
  const one = isOnlySum({ drawn, sums }) ? drawn : [...drawn, ...(sums ? [sums] : [])];
  const all = [...one, ...(before ? [before] : [])];
  const columns: Column<number>[] = [
    {
      label: periodName,
      kind: "time",
      cell: (index) => {
        const { name = "", path = null } = periods[index] ?? {};
        return path === null ? name : markup`<a href="${path}">${name}</a>`;
      },
    },
    ...all.map(({ label, values }): Column<number> => ({ label, kind, cell: (index) => cellOf(values[index]) })),
  ];
  const shown = periods.flatMap(({ isFuture = false }, index) => (isFuture ? [] : [index]));
  return table({
    caption: `${title}, the newest first`,
    columns,
    rows: shown.toReversed(),
    empty: markup``,
    totals: ["All", ...all.map((series) => cellOf(totalOf(series)))],
  });
}

/** One series that is the sum needs no second column, and no name in the legend. */
function isOnlySum({ drawn, sums }: Pick<Plot, "drawn"> & { sums: Series | undefined }): boolean {
  return drawn.length === 1 && drawn[0]?.label === sums?.label;
}

function totalOf({ values, total }: Series): bigint | null {
  return total === undefined ? sumOf(values.map((value) => value ?? 0n)) : total;
}

// What stacked bars draw: at most seven series, of which the smallest are drawn as one.

/** As many as there are colours with a pattern. */
const seriesMax = 7;

/** @returns the largest first; of more than seven, the rest as one at the end */
export function drawnSeries(all: readonly Series[]): Series[] {
  if (all.length <= seriesMax) return [...all];
  const sorted = all.toSorted((one, other) => {
    const [first, second] = [totalOf(one) ?? 0n, totalOf(other) ?? 0n];
    return Number(second > first) - Number(second < first);
  });
  const rest = sorted.slice(seriesMax - 1);
  const periods = rest[0]?.values.length ?? 0;
  const values = Array.from({ length: periods }, (_, index) => sumOf(rest.map((series) => series.values[index] ?? 0n)));
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
