/** Horizontal bars as SVG, each made of parts. */

export interface Bar {
  name: string;
  parts: { name: string; value: number }[];
}

const colors = ["#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#76b7b2", "#edc948", "#b07aa1", "#9c755f", "#bab0ac", "#2f4b7c"];
const nameWidth = 130;
const barWidth = 560;
const valueWidth = 90;
const rowHeight = 30;
const top = 44;

export function barsSvg({ title, bars }: { title: string; bars: Bar[] }): string {
  const partNames = [...new Set(bars.flatMap(({ parts }) => parts.map(({ name }) => name)))];
  const most = Math.max(Number.MIN_VALUE, ...bars.map(sumOf));
  const legendRows = partNames.length > 1 ? Math.ceil(partNames.length / 4) : 0;
  const height = top + bars.length * rowHeight + legendRows * 20 + 12;
  const width = nameWidth + barWidth + valueWidth;
  const body = [
    text({ x: 8, y: 22, size: 15 }, title),
    ...bars.map((bar, n) => barSvg({ bar, y: top + n * rowHeight, most, partNames })),
    ...(legendRows > 0 ? partNames.map((name, n) => legendSvg(name, n, top + bars.length * rowHeight + 10)) : []),
  ];
  const head = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif">`;
  return `${head}<rect width="100%" height="100%" fill="#fff"/>${body.join("")}</svg>\n`;
}

function sumOf({ parts }: Bar): number {
  return parts.reduce((sum, { value }) => sum + value, 0);
}

function barSvg({ bar, y, most, partNames }: { bar: Bar; y: number; most: number; partNames: string[] }): string {
  let x = nameWidth;
  const parts = bar.parts.map(({ name, value }) => {
    const width = (value / most) * barWidth;
    const rect = `<rect x="${x.toFixed(1)}" y="${y}" width="${width.toFixed(1)}" height="20" fill="${colorOf(partNames.indexOf(name))}"/>`;
    x += width;
    return rect;
  });
  const sum = sumOf(bar);
  const shown = sum >= 100 ? Math.round(sum).toLocaleString("en") : String(Number(sum.toPrecision(3)));
  return text({ x: 8, y: y + 15, size: 13 }, bar.name) + parts.join("") + text({ x: x + 6, y: y + 15, size: 12 }, shown);
}

function legendSvg(name: string, n: number, top: number): string {
  const x = 8 + (n % 4) * 190;
  const y = top + Math.floor(n / 4) * 20;
  return `<rect x="${x}" y="${y}" width="12" height="12" fill="${colorOf(n)}"/>${text({ x: x + 18, y: y + 11, size: 12 }, name)}`;
}

function colorOf(n: number): string {
  return colors[n % colors.length] ?? "#000";
}

function text({ x, y, size }: { x: number; y: number; size: number }, content: string): string {
  const safe = content.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  return `<text x="${x.toFixed(1)}" y="${y}" font-size="${size}">${safe}</text>`;
}
