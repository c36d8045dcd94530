/** What all pages share: their frame, and the headers that restrict them to what they need. */
import { setUpScript, styles, type PageKind } from "./assets.ts";
import { markup, type Html } from "../../http/html.ts";

export const htmlType = "text/html; charset=utf-8";

export interface Page {
  kind: PageKind;
  title: string;
  main: Html;
  /** Addresses of the same content as data, for the footer. */
  data: { path: string; label: string }[];
  /** null if the page belongs to no version of the catalog and has no footer. */
  version: string | null;
}

const policies: Record<PageKind, string[]> = {
  search: ["form-action 'self'"],
  "set-up": [
    `script-src ${setUpScript.hash}`,
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
    "form-action 'none'",
  ],
};

/** https://www.w3.org/TR/CSP3/ */
export function pageHeaders(kind: PageKind): Record<string, string> {
  const policy = [
    "default-src 'none'",
    `style-src ${styles[kind].hash}`,
    "img-src data:",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    ...policies[kind],
  ];
  return {
    "content-security-policy": policy.join("; "),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
  };
}

/** Three steps of water over a dam. */
const icon = [
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E",
  "%3Cpath fill='none' stroke='%230b6e8f' stroke-width='2' stroke-linecap='round' d='M1 4h6q2 0 2 4t2 4h4M1 8h4q2 0 2 4'/%3E%3C/svg%3E",
].join("");

export function pageText({ kind, title, main, data, version }: Page): string {
  const page = markup`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title}</title>
        <link rel="icon" href="${icon}" />
        ${styles[kind].element}
      </head>
      <body>
        <a class="skip" href="#main">Skip to the content</a>
        <header class="top">
          <nav aria-label="Site">
            <a class="home" href="/connectors"><strong>Weir</strong> Connectors</a>
          </nav>
        </header>
        <main id="main" tabindex="-1">${main}</main>
        ${version === null ? null : foot(data, version)}
        ${kind === "set-up" ? setUpScript.element : null}
      </body>
    </html> `;
  return String(page);
}

function foot(data: Page["data"], version: string): Html {
  const links = data.map(({ path, label }) => markup`<a href="${path}">${label}</a>`);
  return markup`<footer class="foot">
    <div>
      <p>As data: ${joined(links)}</p>
      <p>Catalog version ${version}</p>
    </div>
  </footer>`;
}

function joined(parts: Html[]): Html {
  const [first = markup``, ...others] = parts;
  return markup`${first}${others.map((other) => markup` · ${other}`)}`;
}

/** Opens in a new tab without a referrer. @param url https, as the catalog's schema requires */
export function outward(url: string, text: Html): Html {
  return markup`<a href="${url}" rel="noopener noreferrer" class="outward">${text}</a>`;
}
