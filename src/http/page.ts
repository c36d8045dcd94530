/**
 * The document around every page: head, skip link, header, content and footer, and the headers that restrict it.
 *
 * Style, scripts and font are files of their own (assets.ts), which a browser keeps for good; the icon is part of the page. The
 * Content-Security-Policy (https://www.w3.org/TR/CSP3/) names each script by its digest, takes styles and fonts from this service alone,
 * and allows nothing else: no inline style or script, and no script that makes text into HTML or code. Links that leave the service send no
 * referrer.
 */
import { readFileSync } from "node:fs";
import { basename, extname } from "node:path";
import { fileURLToPath } from "node:url";
import { assetFile } from "./assets.ts";
import { fontPreload, fontStyle } from "./font.ts";
import { markup, type Html, trusted } from "./html.ts";

export const htmlType = "text/html; charset=utf-8";

interface PageDocument {
  title: string;
  style: Asset;
  scripts: readonly Asset[];
  header: Html;
  main: Html;
  footer: Html | null;
}

export function pageDocument({ title, style, scripts, header, main, footer }: PageDocument): string {
  const page = markup`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title}</title>
        <link rel="icon" href="${iconAddress}" />
        ${fontPreload} ${style.element} ${scripts.map(({ element }) => element)}
      </head>
      <body>
        <a class="skip" href="#main">Skip to the content</a>
        ${header}
        <main id="main" tabindex="-1">${main}</main>
        ${footer}
      </body>
    </html> `;
  return String(page);
}

interface PageHeader {
  home: { path: string; words: string };
  /** What follows the name, such as a list of links; null: nothing. */
  navigation: Html | null;
}

/** The bar above a page's content: the name of the service, which leads to the start, and links. */
export function pageHeader({ home, navigation }: PageHeader): Html {
  return markup`<header class="top">
    <nav aria-label="Site">
      <a class="home" href="${home.path}">${iconMark}<strong>Weir</strong> ${home.words}</a>
      ${navigation}
    </nav>
  </header>`;
}

export interface PagePolicy {
  scripts: readonly Asset[];
  /** Whether its forms may be sent to this service; they are never sent elsewhere. */
  forms: "self" | "none";
  /** Whether its scripts may call this service. */
  connects?: boolean;
}

/** The headers that restrict a page to what it needs. */
export function pageHeaders({ scripts, forms, connects = false }: PagePolicy): Record<string, string> {
  const policy = [
    "default-src 'none'",
    "style-src 'self'",
    "font-src 'self'",
    "img-src data:",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    ...(scripts.length === 0 ? [] : scriptRules(scripts)),
    ...(connects ? ["connect-src 'self'"] : []),
    `form-action '${forms}'`,
  ];
  return {
    "content-security-policy": policy.join("; "),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
  };
}

/** A style or script in pages. */
export interface Asset {
  /** What loads it, in the head of a page. */
  element: Html;
  /** As the policy of its page names it. */
  source: string;
}

/** The type scale, the colours and the fields that all pages share; the first file of every style. */
export const pageStyle = new URL("page.css", import.meta.url);

/**
 * Several files become one, in their order.
 * @param files this service's own
 * @param name what the versions of a style have in common; by default the last file's
 * @throws when a file cannot be read, thus at the start of the process
 */
export function asset(kind: "style" | "script", files: readonly URL[], name = nameOf(files.at(-1))): Asset {
  const whole = files.map((file) => readFileSync(file, "utf8")).join("\n");
  if (kind === "style") {
    const { path } = assetFile({
      name: `${name}.css`,
      type: "text/css; charset=utf-8",
      content: smaller(`${fontStyle}\n${whole}`),
    });
    return { element: trusted(`<link rel="stylesheet" href="${path}" />`), source: "'self'" };
  }
  const { path, digest } = assetFile({ name: `${name}.js`, type: "text/javascript; charset=utf-8", content: whole });
  const integrity = `sha256-${digest.toString("base64")}`;
  return {
    element: trusted(`<script src="${path}" integrity="${integrity}" defer></script>`),
    source: `'${integrity}'`,
  };
}

/** Three steps of water over a dam: the icon of every page. */
const drawing = "M1 4h6q2 0 2 4t2 4h4M1 8h4q2 0 2 4";

/** The icon before the name of the service; page.css gives its size and colour. */
export const iconMark = markup`<svg class="mark-of-weir" viewBox="0 0 16 16" aria-hidden="true"><path d="${trusted(drawing)}" /></svg>`;

/** The icon as a separate document, for browsers that request one. */
export const iconSvg = [
  "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'>",
  `<path fill='none' stroke='#0b6e8f' stroke-width='2' stroke-linecap='round' d='${drawing}'/></svg>`,
].join("");

/** The icon inside a page, which saves a request. */
const iconAddress = `data:image/svg+xml,${iconSvg.replaceAll(/[<>#]/g, encodeURIComponent)}`;

/** A link that leaves the service. @param url https, as the catalog's schema requires */
export function outward(url: string, text: Html): Html {
  return markup`<a href="${url}" rel="noopener noreferrer" class="outward">${text}</a>`;
}

/** No script can turn text into HTML or code. */
function scriptRules(scripts: readonly Asset[]): string[] {
  return [
    `script-src ${scripts.map(({ source }) => source).join(" ")}`,
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ];
}

function nameOf(file: URL | undefined): string {
  return file === undefined ? "none" : basename(fileURLToPath(file), extname(file.pathname));
}

/** A quarter of a style is indentation, line ends and comments, which no browser needs. In a script they may be part of a text. */
function smaller(style: string): string {
  const [first = "", ...others] = style.split("/*");
  const withoutComments = first + others.map((part) => part.slice(part.indexOf("*/") + 2)).join("");
  return withoutComments.replaceAll(/^\s+/gm, "").replaceAll(/([,:;{}])\n/g, "$1");
}
