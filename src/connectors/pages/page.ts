/**
 * What all pages of the catalog share: header, footer, styles, scripts, policies, and the page shown for a refused one. Search forms may be
 * sent to this service; what is typed into a connector's form may be sent nowhere.
 */
import { markup, type Html } from "../../http/html.ts";
import { asset, pageStyle, type Asset, pageDocument, htmlType, pageHeader, pageHeaders } from "../../http/page.ts";
import { likelyConnector } from "../catalog/find.ts";
import type { Published } from "../catalog/published.ts";
import type { PageQuery } from "../catalog/read-parameters.ts";
import type { CatalogRefusal } from "../catalog/refusal.ts";
import { catalogAddress, connectorAddress } from "./filters.ts";

interface Page {
  kind: PageKind;
  title: string;
  main: Html;
  /** Addresses of the same content as data, linked in the footer. */
  data: { path: string; label: string }[];
  /** null if the page belongs to no version of the catalog and has no footer. */
  version: string | null;
}

const forms: Record<PageKind, "self" | "none"> = { search: "self", "set-up": "none" };

export function catalogPageHeaders(kind: PageKind): Record<string, string> {
  return pageHeaders({ scripts: scripts[kind], forms: forms[kind] });
}

export function pageText({ kind, title, main, data, version }: Page): string {
  const navigation = markup`<ul class="site">
    <li><a href="/">Start</a></li>
    <li><a href="/reference">API</a></li>
  </ul>`;
  const header = pageHeader({ home: { path: "/connectors", words: "Connectors" }, navigation });
  const footer = version === null ? null : foot(data, version);
  return pageDocument({ title, style: styles[kind], scripts: scripts[kind], header, main, footer });
}

const titles: Record<CatalogRefusal["status"], string> = {
  400: "This address has a mistake",
  404: "There is no such page",
  405: "This page can only be read",
  503: "The catalog cannot be shown yet",
};

/** The page shown for a refused one. @param hint what the reader may have meant */
export function refusalPage({ status, message, headers }: CatalogRefusal, hint: Html | null): Response {
  const main = markup`<h1>${titles[status]}</h1>
    <p>${message}.</p>
    ${hint}
    <p><a href="/connectors">See all connectors</a></p>`;
  const text = pageText({ kind: "search", title: `${titles[status]} · Weir`, main, data: [], version: null });
  return new Response(text, {
    status,
    headers: { ...catalogPageHeaders("search"), "content-type": htmlType, "cache-control": "no-store", ...headers },
  });
}

/** The hint for a page number beyond the list. */
export function firstPage(query: PageQuery): Html {
  return markup`<p><a href="${catalogAddress({ ...query, page: 1 })}">See its first page</a></p>`;
}

/** The hint for an unknown slug. */
export function nearestConnector(word: string, published: Published | null): Html | null {
  const found = published === null ? undefined : likelyConnector(word, published);
  if (!found) return null;
  const words = word.slice(0, 100).replaceAll("-", " ");
  return markup`<p>
    The nearest is <a href="${connectorAddress(found.slug)}">${found.name}</a>, or
    <a href="${catalogAddress({ q: words })}">search for “${words}”</a>.
  </p>`;
}

/** The kinds of pages, by where their forms may be sent. */
type PageKind = "search" | "set-up";

const own = (file: string): URL => new URL(file, import.meta.url);

const styles: Record<PageKind, Asset> = {
  search: asset("style", [pageStyle, own("catalog.css")]),
  "set-up": asset("style", [pageStyle, own("set-up.css")]),
};

const scripts: Record<PageKind, Asset[]> = {
  search: [asset("script", [own("catalog.js")])],
  "set-up": [asset("script", [own("set-up.js")])],
};

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
