/** The document around every page: its head, the skip link, and the order of header, content and footer. */
import { markup, type Html } from "../html.ts";
import type { Asset } from "./asset.ts";
import { iconAddress } from "./icon.ts";

export const htmlType = "text/html; charset=utf-8";

export interface PageDocument {
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
