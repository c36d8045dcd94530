/** Plots durations over the share of all that they cover, with the same width for each further nine. */
import type { CurvePoint } from "../../load/histogram.ts";
import { median } from "../../measure/median.ts";
import { shown } from "../table.ts";
import { linesSvg, type Series } from "./lines.ts";
import { logScale, type Scale, type Span } from "./scale.ts";

export interface Distribution {
  name: string;
  /** One curve for each round. */
  curves: CurvePoint[][];
}

const shares = [0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999];

/** @param plot.axis the quantity, with its unit */
export function distributionSvg(plot: { title: string; axis: string; distributions: Distribution[] }): string {
  const series = plot.distributions.map(({ name, curves }): Series => ({ name, points: middleOf(curves) }));
  const points = series.flatMap((one) => one.points);
  const most = Math.max(...points.map(([share]) => share));
  return linesSvg({
    title: plot.title,
    x: { title: "share of all, up to", scale: (span) => ninesScale(most, span), label: percent },
    y: {
      title: plot.axis,
      scale: (span) =>
        logScale(
          points.map(([, ms]) => ms),
          span,
        ),
      label: shown,
    },
    series,
  });
}

/** The median of the rounds at each share that all of them have. */
function middleOf(curves: CurvePoint[][]): [number, number][] {
  const shortest = curves.toSorted((one, other) => one.length - other.length)[0] ?? [];
  return shortest.map(({ share }, n): [number, number] => [share, median(curves.map((curve) => curve[n]?.ms ?? Number.NaN))]);
}

function ninesScale(most: number, { from, to }: Span): Scale {
  const nines = (share: number): number => -Math.log10(1 - share);
  const end = Math.max(nines(most), 1);
  const ticks = shares.filter((share) => nines(share) <= end + 1e-6);
  return { place: (share) => from + (nines(share) / end) * (to - from), ticks };
}

function percent(share: number): string {
  return `${Number((share * 100).toPrecision(7))} %`;
}
