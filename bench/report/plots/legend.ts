/** The legend of colors. */
import { at, seriesClass, text, width } from "./theme.ts";

const margin = 16;
const rowHeight = 18;
const below = 10;

/** 0 without names. */
export function legendHeight(names: string[]): number {
  const last = placesOf(names).at(-1);
  return last === undefined ? 0 : last.y + rowHeight + below;
}

export function legendSvg(names: string[], top: number): string[] {
  return placesOf(names).flatMap(({ name, x, y }, n) => [
    `<rect class="${seriesClass(name, n)}" x="${at(x)}" y="${at(top + y - 4)}" width="11" height="11" rx="2"/>`,
    text(name, { x: x + 17, y: top + y + 6 }),
  ]);
}

/** Places names next to each other, and on the next line when a line is full. */
function placesOf(names: string[]): { name: string; x: number; y: number }[] {
  let x = margin;
  let y = 0;
  return names.map((name) => {
    const needed = 40 + name.length * 6.6;
    if (x + needed > width) [x, y] = [margin, y + rowHeight];
    const place = { name, x, y };
    x += needed;
    return place;
  });
}
