/** A line plot with two axes. */
import { legendHeight, legendSvg } from "./legend.ts";
import type { Scale, Span } from "./scale.ts";
import { at, gridLine, seriesClass, svg, text, width } from "./theme.ts";

export interface Axis {
  /** The title, with its unit. */
  title: string;
  scale(span: Span): Scale;
  /** The label of a mark. */
  label(value: number): string;
}

export interface Series {
  name: string;
  points: [x: number, y: number][];
}

export interface LinesPlot {
  title: string;
  x: Axis;
  y: Axis;
  series: Series[];
}

const left = 72;
const right = width - 40;
const headHeight = 46;
const plotHeight = 270;
const footHeight = 48;

export function linesSvg({ title, x, y, series }: LinesPlot): string {
  const names = series.length > 1 ? series.map(({ name }) => name) : [];
  const top = headHeight + legendHeight(names);
  const bottom = top + plotHeight;
  const across = x.scale({ from: left, to: right });
  const up = y.scale({ from: bottom, to: top });
  const body = [
    text(title, { x: 16, y: 26, size: 15, bold: true }),
    ...legendSvg(names, headHeight),
    ...across.ticks.flatMap((tick) => [
      gridLine([across.place(tick), top], [across.place(tick), bottom]),
      text(x.label(tick), { x: across.place(tick), y: bottom + 16, size: 11, anchor: "middle", dim: true }),
    ]),
    ...up.ticks.flatMap((tick) => [
      gridLine([left, up.place(tick)], [right, up.place(tick)]),
      text(y.label(tick), { x: left - 8, y: up.place(tick) + 4, size: 11, anchor: "end", dim: true }),
    ]),
    text(x.title, { x: (left + right) / 2, y: bottom + 36, size: 11, anchor: "middle", dim: true }),
    text(y.title, { x: 20, y: (top + bottom) / 2, size: 11, anchor: "middle", dim: true, upright: true }),
    ...series.map(({ name, points }, n) => {
      const places = points.map(([one, other]) => `${at(across.place(one))},${at(up.place(other))}`);
      return `<polyline class="line ${seriesClass(name, n)}" style="fill:none" points="${places.join(" ")}"/>`;
    }),
  ];
  return svg({ height: bottom + footHeight, title, body });
}
