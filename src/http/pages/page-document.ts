/** The document around every page: its head, the skip link, and the order of header, content and footer. */
import { markup, type Html } from "../html.ts";
import type { Asset } from "./asset.ts";

export const htmlType = "text/html; charset=utf-8";

export interface PageDocument {
  title: string;
  style: Asset;
  scripts: readonly Asset[];
  header: Html;
  main: Html;
  footer: Html | null;
}

/** Three steps of water over a dam. */
const icon = [
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E",
  "%3Cpath fill='none' stroke='%230b6e8f' stroke-width='2' stroke-linecap='round' d='M1 4h6q2 0 2 4t2 4h4M1 8h4q2 0 2 4'/%3E%3C/svg%3E",
].join("");

export function pageDocument({ title, style, scripts, header, main, footer }: PageDocument): string {
  const page = markup`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title}</title>
        <link rel="icon" href="${icon}" />
        ${style.element}
      </head>
      <body>
        <a class="skip" href="#main">Skip to the content</a>
        ${header}
        <main id="main" tabindex="-1">${main}</main>
        ${footer} ${scripts.map(({ element }) => element)}
      </body>
    </html> `;
  return String(page);
}
