/** Lines and dots over the colours of a chart, so that its series differ without them. */
import { markup, trusted, type Html } from "../../../http/html.ts";

/** On a square of 6; the first series is plain. */
const drawings = ["M-1 7 7-1M-1 1 1-1M5 7 7 5", "M2 2h2v2H2z", "M0 3h6", "M-1-1 7 7M5-1 7 1M-1 5 1 7", "M3 0v6", "M0 3h6M3 0v6"];

/** @param id of the chart: pattern N is `#id-N` */
export function patterns(id: string, count: number): Html {
  const drawn = drawings.slice(0, Math.max(0, count - 1));
  return markup`<defs>${drawn.map((path, index) => markup`<pattern id="${id}-${index + 1}" width="6" height="6" patternUnits="userSpaceOnUse"><path d="${trusted(path)}" /></pattern>`)}</defs>`;
}
