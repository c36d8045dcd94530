/** Horizontal stacked bars. Each panel has its own axis. */
import { shown } from "../table.ts";
import { legendSvg, legendHeight } from "./legend.ts";
import { linearScale } from "./scale.ts";
import { at, gridLine, seriesClass, svg, text, width } from "./theme.ts";

export interface Bar {
  name: string;
  parts: { name: string; value: number }[];
}

export interface Panel {
  /** "": the plot has only one panel. */
  name: string;
  bars: Bar[];
}

export interface BarsPlot {
  title: string;
  /** The label of the axis, with its unit. */
  axis: string;
  panels: Panel[];
  /** For the names of bars; default: 130. */
  nameWidth?: number;
  /** The order of parts. Parts that are not listed come first. */
  order?: readonly string[];
}

const valueWidth = 70;
const rowHeight = 26;
const barHeight = 16;
const headHeight = 46;
const axisHeight = 40;
const panelNameHeight = 24;

export function barsSvg({ title, axis, panels, nameWidth = 130, order = [] }: BarsPlot): string {
  const found = new Set(panels.flatMap(({ bars }) => bars.flatMap(({ parts }) => parts.map(({ name }) => name))));
  const names = [...found].toSorted((one, other) => order.indexOf(one) - order.indexOf(other));
  const legend = names.length > 1 ? names : [];
  const body = [text(title, { x: 16, y: 26, size: 15, bold: true }), ...legendSvg(legend, headHeight)];
  let top = headHeight + legendHeight(legend);
  for (const panel of panels) {
    body.push(...panelSvg({ panel, top, axis, names, left: 16 + nameWidth }));
    top += heightOf(panel);
  }
  return svg({ height: top + 6, title, body });
}

function heightOf({ name, bars }: Panel): number {
  return (name === "" ? 0 : panelNameHeight) + bars.length * rowHeight + axisHeight;
}

interface PanelPlace {
  panel: Panel;
  top: number;
  axis: string;
  names: string[];
  left: number;
}

function panelSvg({ panel, top, axis, names, left }: PanelPlace): string[] {
  const { name, bars } = panel;
  const first = top + (name === "" ? 0 : panelNameHeight);
  const bottom = first + bars.length * rowHeight;
  const scale = linearScale(Math.max(...bars.map(sumOf)), { from: left, to: width - valueWidth });
  return [
    ...(name === "" ? [] : [text(name, { x: 16, y: top + 14, size: 13, bold: true })]),
    ...scale.ticks.flatMap((tick) => [
      gridLine([scale.place(tick), first], [scale.place(tick), bottom]),
      text(shown(tick), { x: scale.place(tick), y: bottom + 14, size: 11, anchor: "middle", dim: true }),
    ]),
    text(axis, { x: (left + width - valueWidth) / 2, y: bottom + 29, size: 11, anchor: "middle", dim: true }),
    ...bars.flatMap((bar, n) => barSvg({ bar, y: first + n * rowHeight, place: scale.place, names, left })),
  ];
}

interface BarPlace {
  bar: Bar;
  y: number;
  place(value: number): number;
  names: string[];
  left: number;
}

function barSvg({ bar, y, place, names, left }: BarPlace): string[] {
  let sum = 0;
  const inOrder = bar.parts.toSorted((one, other) => names.indexOf(one.name) - names.indexOf(other.name));
  const parts = inOrder.map(({ name, value }) => {
    const from = place(sum);
    sum += value;
    const kind = seriesClass(bar.parts.length === 1 ? bar.name : name, names.indexOf(name));
    return `<rect class="${kind}" x="${at(from)}" y="${at(y + 5)}" width="${at(place(sum) - from)}" height="${barHeight}"/>`;
  });
  const label = text(bar.name, { x: left - 8, y: y + 17, anchor: "end" });
  return [label, ...parts, text(shown(sum), { x: place(sum) + 6, y: y + 17 })];
}

function sumOf({ parts }: Bar): number {
  return parts.reduce((sum, { value }) => sum + value, 0);
}
