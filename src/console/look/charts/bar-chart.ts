/** Bars by day, stacked by series, drawn on the server, and the same numbers as a table beneath. */
import { markup, type Html } from "../../../http/html.ts";
import { table, type Column } from "../table.ts";
import { day, shortDay } from "../time.ts";
import { userText, type Content } from "../user-text.ts";
import { patterns } from "./patterns.ts";
import { drawnSeries, roundedTop, sumOf, type Series } from "./series.ts";

export interface BarChart {
  /** Unique on its page. */
  id: string;
  /** Such as "Spend by day and key". */
  title: string;
  /** YYYY-MM-DD, in order. */
  days: readonly string[];
  /** In which the days begin and end, such as "UTC". */
  zone: string;
  series: readonly Series[];
  /** As text of the drawing. */
  words: (value: bigint) => string;
  /** As a label of the scale, whose values are round; without it, the same as in the drawing. */
  scaleWords?: (value: bigint) => string;
  /** As a cell of the table; without it, the same as in the drawing. */
  exact?: (value: bigint) => Content;
  /** Instead of a chart without days or values. */
  empty: Html;
  /** Whether the table is shown at once, or opened by its summary. */
  tableOpen?: boolean;
}

/** Of the plot, in pixels. Its width is that of the page, so widths are in percent. */
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
      <svg class="bars" width="100%" height="${height + 24}" role="img" aria-label="${title}; the table beneath has its numbers">
        ${patterns(id, drawn.length)}${[0, 1, 2].map((line) => markup`<line x1="0" x2="100%" y1="${lineAt(line)}" y2="${lineAt(line)}" />`)}
        ${days.map((date, index) => bar({ id, date, index, of: days.length, drawn, top, words }))}
      </svg>
    </div>
    <details${tableOpen ? markup` open` : null}><summary>These numbers as a table</summary>${numbers({ title, days, zone, drawn, totals, exact })}</details>
  </figure>`;
}

/** The tops of the plot, of its half, and its bottom. */
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
    // One pixel at least, so that nothing spent goes unseen.
    const size = Math.max(1, Number((value * BigInt((height - 8) * 100)) / top) / 100);
    from -= size;
    const rect = (fill: Html): Html => markup`<rect ${place} y="${from.toFixed(2)}" height="${size.toFixed(2)}" ${fill} />`;
    return [
      markup`<g><title>${day(date)}, ${label}: ${words(value)}</title>${rect(markup`class="series-${number}"`)}${number === 0 ? null : rect(markup`fill="url(#${id}-${number})"`)}</g>`,
    ];
  });
  return markup`${parts}${dayLabel({ date, index, of })}`;
}

/** The newest day always has one. */
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
