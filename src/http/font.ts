/**
 * The typeface of all pages: Inter, a variable font whose figures can have one width, from the package @fontsource-variable/inter. It is
 * served from this service, in one file for each script: a browser loads a file once a page has a letter of it. Other scripts use what the
 * system has, as does a browser until the file is there, in letters of the same width, so that nothing moves. The licence, SIL OFL 1.1, is
 * served with it.
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import ranges from "@fontsource-variable/inter/unicode.json" with { type: "json" };
import { assetFile } from "./assets.ts";
import { markup, type Html } from "./html.ts";

const scripts = ["latin", "latin-ext", "greek", "cyrillic", "vietnamese"] as const;

const files = scripts.map((script) => {
  const name = `inter-${script}-wght-normal.woff2`;
  return { script, ...assetFile({ name, type: "font/woff2", content: Uint8Array.from(bytesOf(`files/${name}`)) }) };
});

/** The beginning of every style. */
export const fontStyle = [
  ...files.map(({ script, path }) =>
    fontFace("Inter", [
      `src: url(${path}) format("woff2")`,
      "font-weight: 100 900",
      "font-display: swap",
      `unicode-range: ${ranges[script]}`,
    ]),
  ),
  // Arial in Inter's widths and heights.
  fontFace("Inter Fallback", [
    'src: local("Arial"), local("Liberation Sans")',
    "size-adjust: 107.06%",
    "ascent-override: 90.49%",
    "descent-override: 22.56%",
    "line-gap-override: 0%",
  ]),
].join("\n");

/** Loads the letters that each page has before a style asks for them. */
export const fontPreload: Html = markup`${files
  .slice(0, 1)
  .map(({ path }) => markup`<link rel="preload" href="${path}" as="font" type="font/woff2" crossorigin />`)}`;

const { path: licencePath } = assetFile({
  name: "inter-licence.txt",
  type: "text/plain; charset=utf-8",
  content: bytesOf("LICENSE").toString(),
});

/** Whose typeface it is, for the foot of a page. */
export const fontCredit: Html = markup`Typeface: Inter, under the <a href="${licencePath}">SIL Open Font License</a>`;

function fontFace(family: string, lines: readonly string[]): string {
  return `@font-face {\nfont-family: "${family}";\n${lines.join(";\n")};\n}`;
}

function bytesOf(file: string): Buffer {
  return readFileSync(fileURLToPath(import.meta.resolve(`@fontsource-variable/inter/${file}`)));
}
