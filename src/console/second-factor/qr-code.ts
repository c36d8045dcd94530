/** A QR code as SVG, made here: what it holds goes to no other service. */
import { encode } from "uqr";
import { markup, type Html } from "../../http/html.ts";

/** Light modules around the code, as the standard asks. */
const border = 4;
const pixels = 220;

/** Dark on light in both themes, since cameras expect it. @param label what a screen reader says in its place */
export function qrCode(text: string, label: string): Html {
  const { data, size } = encode(text, { ecc: "M", border });
  const path = data
    .map((row, y) =>
      runsOf(row)
        .map(({ from, length }) => `M${from} ${y}h${length}v1h-${length}z`)
        .join(""),
    )
    .join("");
  return markup`<svg role="img" aria-label="${label}" width="${pixels}" height="${pixels}" viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges">
    <rect width="${size}" height="${size}" fill="#fff" /><path fill="#000" d="${path}" />
  </svg>`;
}

/** Dark modules beside each other, as one bar. */
function runsOf(row: readonly boolean[]): { from: number; length: number }[] {
  const runs: { from: number; length: number }[] = [];
  for (const [x, isDark] of row.entries()) {
    const last = runs.at(-1);
    if (!isDark) continue;
    if (last && last.from + last.length === x) last.length++;
    else runs.push({ from: x, length: 1 });
  }
  return runs;
}
