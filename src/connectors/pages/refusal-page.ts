/** The page that replaces a refused one. */
import { likelyConnector } from "../catalog/find.ts";
import type { Published } from "../catalog/published.ts";
import type { PageQuery } from "../catalog/read-parameters.ts";
import type { CatalogRefusal } from "../catalog/refusal.ts";
import { catalogAddress, connectorAddress } from "./catalog-address.ts";
import { markup, type Html } from "../../http/html.ts";
import { htmlType } from "../../http/pages/page-document.ts";
import { catalogPageHeaders, pageText } from "./page.ts";

const titles: Record<CatalogRefusal["status"], string> = {
  400: "This address has a mistake",
  404: "There is no such page",
  405: "This page can only be read",
  503: "The catalog cannot be shown yet",
};

/** @param hint what the reader may have meant */
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

/** For a page number beyond the list. */
export function firstPage(query: PageQuery): Html {
  return markup`<p><a href="${catalogAddress({ ...query, page: 1 })}">See its first page</a></p>`;
}

/** For an unknown slug. */
export function nearestConnector(word: string, published: Published | null): Html | null {
  const found = published === null ? undefined : likelyConnector(word, published);
  if (!found) return null;
  const words = word.slice(0, 100).replaceAll("-", " ");
  return markup`<p>
    The nearest is <a href="${connectorAddress(found.slug)}">${found.name}</a>, or
    <a href="${catalogAddress({ q: words })}">search for “${words}”</a>.
  </p>`;
}
