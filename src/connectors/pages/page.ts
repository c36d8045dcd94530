/** What all pages of the catalog share: their header, their footer, and their policies. */
import { markup, type Html } from "../../http/html.ts";
import { pageDocument } from "../../http/pages/page-document.ts";
import { pageHeader } from "../../http/pages/page-header.ts";
import { pageHeaders } from "../../http/pages/page-headers.ts";
import { scripts, styles, type PageKind } from "./assets.ts";

export interface Page {
  kind: PageKind;
  title: string;
  main: Html;
  /** Addresses of the same content as data, for the footer. */
  data: { path: string; label: string }[];
  /** null if the page belongs to no version of the catalog and has no footer. */
  version: string | null;
}

const forms: Record<PageKind, "self" | "none"> = { search: "self", "set-up": "none" };

export function catalogPageHeaders(kind: PageKind): Record<string, string> {
  return pageHeaders({ style: styles[kind], scripts: scripts[kind], forms: forms[kind] });
}

export function pageText({ kind, title, main, data, version }: Page): string {
  const header = pageHeader({ home: { path: "/connectors", words: "Connectors" }, navigation: null });
  const footer = version === null ? null : foot(data, version);
  return pageDocument({ title, style: styles[kind], scripts: scripts[kind], header, main, footer });
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
