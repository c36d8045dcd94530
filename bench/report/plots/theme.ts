/** The style of all plots: on their own card, readable on light and dark pages, without external fonts. */

interface Shade {
  light: string;
  dark: string;
}

const surfaces: Record<string, Shade> = {
  card: { light: "#ffffff", dark: "#14181f" },
  ink: { light: "#1c2128", dark: "#e6eaf0" },
  dim: { light: "#57606a", dark: "#9aa5b1" },
  grid: { light: "#dfe3e8", dark: "#2c333d" },
};

/** The colors also differ in lightness, for people who cannot distinguish hues. */
const blue: Shade = { light: "#1f6fd0", dark: "#4c9bf5" };
const sky: Shade = { light: "#5fb3d9", dark: "#2f86b3" };
const orange: Shade = { light: "#d9730d", dark: "#f0913a" };
const gold: Shade = { light: "#e0ac1b", dark: "#e6c04a" };
const green: Shade = { light: "#2f8f4e", dark: "#4fb873" };
const red: Shade = { light: "#c0392b", dark: "#ef6f61" };
const purple: Shade = { light: "#7d4fb3", dark: "#b08ae0" };
const pink: Shade = { light: "#d87fa9", dark: "#c45c8c" };
const gray: Shade = { light: "#8a939d", dark: "#8b95a1" };
const pale: Shade = { light: "#c0c7cf", dark: "#616b77" };

/** The same name has the same color in every plot. */
const shades: Record<string, Shade> = {
  direct: pale,
  "bare proxy": gray,
  Portkey: orange,
  nginx: purple,
  "Busbar open": gold,
  "Busbar governed": gold,
  "Bifrost open": green,
  "Bifrost governed": green,
  "LiteLLM open": red,
  "LiteLLM governed": red,
  "Weir hot": blue,
  "Weir spread": sky,
  "gateway or proxy": blue,
  admission: sky,
  metering: green,
  "nats-server": purple,
  "redis-server": red,
  postgres: gold,
  prober: pink,
  provider: gray,
  "load generator": pale,
};
const others = [blue, orange, green, purple, red, sky, gold, pink];

export const width = 760;

/** The CSS class with the color of a series. @param place the index among series without a fixed color */
export function seriesClass(name: string, place: number): string {
  const known = Object.keys(shades).indexOf(name);
  return known === -1 ? `o${place % others.length}` : `s${known}`;
}

export function svg({ height, title, body }: { height: number; title: string; body: string[] }): string {
  const open = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`;
  const card = `<rect class="card" width="${width}" height="${height}" rx="8"/>`;
  return [open, `<title>${escaped(title)}</title>`, style(), card, ...body, "</svg>", ""].join("\n");
}

interface TextOptions {
  x: number;
  y: number;
  size?: number;
  anchor?: "start" | "middle" | "end";
  dim?: boolean;
  bold?: boolean;
  /** Whether to rotate the text so that it reads upwards. */
  upright?: boolean;
}

export function text(content: string, { x, y, size = 12, anchor = "start", dim = false, bold = false, upright }: TextOptions) {
  const turn = upright === true ? ` transform="rotate(-90 ${at(x)} ${at(y)})"` : "";
  const weight = bold ? ` font-weight="600"` : "";
  const place = `x="${at(x)}" y="${at(y)}" font-size="${size}" text-anchor="${anchor}"`;
  return `<text class="${dim ? "dim" : "ink"}" ${place}${weight}${turn}>${escaped(content)}</text>`;
}

export function gridLine(from: [number, number], to: [number, number]): string {
  return `<line class="grid" x1="${at(from[0])}" y1="${at(from[1])}" x2="${at(to[0])}" y2="${at(to[1])}"/>`;
}

/** Rounds coordinates to a tenth. */
export function at(value: number): string {
  return String(Number(value.toFixed(1)));
}

function style(): string {
  const rules = (read: (shade: Shade) => string): string => {
    const named = (name: string): string => read(surfaces[name] ?? gray);
    const series = [
      ...Object.values(shades).map((shade, n) => [`s${n}`, shade] as const),
      ...others.map((shade, n) => [`o${n}`, shade] as const),
    ];
    return [
      `.card{fill:${named("card")}}.ink{fill:${named("ink")}}.dim{fill:${named("dim")}}.grid{stroke:${named("grid")}}`,
      ...series.map(([name, shade]) => `.${name}{fill:${read(shade)};stroke:${read(shade)}}`),
    ].join("");
  };
  const fixed =
    "text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,sans-serif;stroke:none}rect{stroke:none}.line{fill:none;stroke-width:2}";
  const dark = `@media (prefers-color-scheme:dark){${rules((shade) => shade.dark)}}`;
  return `<style>${rules((shade) => shade.light)}${dark}${fixed}</style>`;
}

function escaped(content: string): string {
  return content.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
