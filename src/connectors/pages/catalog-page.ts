/**
 * The catalog page: one row per connector in the specification's five columns, with filters and pagination. Long cells are cut to three
 * lines; the connector's page has the whole text. The page works without a script; with one, a filter applies as soon as it is chosen.
 */
import { DomainError } from "../../accounts/errors.ts";
import { markup, type Html } from "../../http/html.ts";
import { monogram } from "../../http/monogram.ts";
import { outward } from "../../http/page.ts";
import { methodNames } from "../catalog/files/columns.ts";
import { filterConnectors, type Filters } from "../catalog/find.ts";
import { rowIn, type Published, type PublishedConnector } from "../catalog/published.ts";
import type { PageQuery } from "../catalog/read-parameters.ts";
import { isTestable, type ConnectorRow } from "../catalog/row.ts";
import { bestKnown, type SearchTerms } from "../catalog/search-terms.ts";
import { connectorPageRows } from "../limits.ts";
import { adviceForNothing, filterChips, catalogAddress, connectorAddress, facetsOf, type Facets, searchForm } from "./filters.ts";
import { pageText } from "./page.ts";

/** @throws DomainError not_found beyond the last page */
export function catalogPage(query: PageQuery, published: Published, categories: readonly string[]): string {
  const { page, ...filters } = query;
  const { searched, connectors: found, didYouMean } = filterConnectors(published, filters);
  const last = Math.max(1, Math.ceil(found.length / connectorPageRows));
  if (page > last) throw new DomainError("not_found", `The list has no page ${page}: the last one is page ${last}`);
  const first = (page - 1) * connectorPageRows;
  const rows = found.slice(first, first + connectorPageRows).map(({ json }) => rowIn(json));
  const { connectors } = published;
  const facets = facetsOf(filters, { searched, connectors, categories });
  const browsed = facets.categories.any > 0 ? filters : noFilters;
  const browsedFacets = browsed === filters ? facets : facetsOf(noFilters, { searched: connectors, connectors, categories });
  const whole = noneOf(filters) && page === 1;
  const main = markup`<h1>Connectors</h1>
    <p class="lead${whole ? "" : " wide-only"}">
      ${connectors.length} systems that the service reads from and never writes to.
      <a href="#categories">Browse the categories</a>
    </p>
    ${searchForm(filters, facets)} ${filterChips(filters)} ${whole ? popularVendors(published.terms) : null}
    <section aria-labelledby="results">
      <h2 id="results">${resultsTitle(found.length, filters)}</h2>
      ${didYouMean === null ? null : correction(didYouMean, filters)}
      ${rows.length === 0 ? adviceForNothing(filters, { searched: searched.length, facets }) : table(rows, { first, total: found.length })}
      ${pagination(page, last, (page) => catalogAddress({ ...filters, page }))}
    </section>
    ${categoryList(browsed, browsedFacets, browsed === filters ? filters.category : undefined)}`;
  return pageText({
    kind: "search",
    title: titleOf(filters, { page, last }),
    main,
    data: [
      { path: "/api/connectors", label: "list" },
      { path: "/api/connector-exports/latest.csv", label: "CSV" },
      { path: "/api/connector-exports/latest.ndjson", label: "NDJSON" },
      { path: "/api/connector-exports/latest.json", label: "JSON" },
    ],
    version: published.version,
  });
}

/** If a search finds nothing in any category, offers to browse all categories. */
const noFilters: Filters = { category: null, method: null, testable: false, q: "" };

function noneOf({ q, category, method, testable }: Filters): boolean {
  return q === "" && category === null && method === null && !testable;
}

/** How many popular vendors head the unfiltered list. */
const shown = 12;

/** The vendors that most readers look for; null if no popularity is known. */
function popularVendors(terms: SearchTerms<PublishedConnector>): Html | null {
  const vendors = bestKnown(terms, shown);
  if (vendors.length === 0) return null;
  return markup`<section class="popular" aria-labelledby="popular">
    <h2 id="popular">Popular</h2>
    <ul>
      ${vendors.map(({ slug, name }) => markup`<li><a href="${connectorAddress(slug)}">${monogram(name)}<span>${name}</span></a></li>`)}
    </ul>
  </section>`;
}

function resultsTitle(count: number, { q, category, method, testable }: Filters): Html {
  const name = count === 1 ? "connector" : "connectors";
  const of = category === null ? null : markup` in ${category}`;
  const by = method === null ? null : markup` with ${methodNames[method]}`;
  const words = q === "" ? null : markup` for “${q}”`;
  const tested = testable ? markup` that can be tested` : null;
  return markup`${count === 0 ? "No" : count} ${name}${of}${by}${tested}${words}`;
}

function correction(didYouMean: string, filters: Filters): Html {
  const link = markup`<a href="${catalogAddress({ ...filters, q: didYouMean })}">${didYouMean}</a>`;
  return markup`<p>Did you mean ${link}? Nothing is called “${filters.q}”.</p>`;
}

/** The roles are explicit, because browsers drop those of a table that is laid out as a list, as on phones. */
function table(rows: ConnectorRow[], { first, total }: { first: number; total: number }): Html {
  return markup`<table role="table" class="rows">
    <caption>
      ${first + 1} to ${first + rows.length} of ${total}
    </caption>
    <thead role="rowgroup">
      <tr role="row">
        <th role="columnheader" scope="col">Connector</th>
        <th role="columnheader" scope="col">Connect with</th>
        <th role="columnheader" scope="col">The form asks for</th>
        <th role="columnheader" scope="col">Grant at the vendor</th>
        <th role="columnheader" scope="col">Vendor docs</th>
      </tr>
    </thead>
    <tbody role="rowgroup">
      ${rows.map(tableRow)}
    </tbody>
  </table>`;
}

function tableRow(row: ConnectorRow): Html {
  const { slug, name, category, docs, columns } = row;
  const tested = isTestable(row) ? markup`<span class="under">can be tested</span>` : null;
  const link = docs === null ? columns.vendor_docs : outward(docs, markup`Docs<span class="unseen"> of ${name}</span>`);
  return markup` <tr role="row">
    <th role="rowheader" scope="row"><a href="${connectorAddress(slug)}">${name}</a>${monogram(name)}<span class="under">${category}</span></th>
    <td role="cell">${label("Connect with")}<span>${columns.connect_with}${tested}</span></td>
    <td role="cell">${label("Asks for")}<span class="brief">${columns.form_asks_for}</span></td>
    <td role="cell">${label("Grant")}<span class="brief">${columns.grant_at_the_vendor}</span></td>
    <td role="cell">${label("Docs")}<span>${link}</span></td>
  </tr>`;
}

/** A heading within a cell, shown only where the heading row is hidden; screen readers use the real headings. */
function label(word: string): Html {
  return markup`<span class="label" aria-hidden="true">${word}</span>`;
}

type AddressOf = (page: number) => string;

/**
 * Links to the other pages of a list: the first, the last, and those around the current one.
 * @param addressOf maps a page's number, from 1, to its address
 */
function pagination(present: number, last: number, addressOf: AddressOf): Html | null {
  if (last < 2) return null;
  return markup`<nav class="pages" aria-label="Pages">
    <ul>
      ${present > 1 ? step("Previous", addressOf(present - 1)) : null}
      ${shownPages(present, last).map((page) => numbered(page, present, addressOf))}
      ${present < last ? step("Next", addressOf(present + 1)) : null}
    </ul>
  </nav>`;
}

function step(word: "Previous" | "Next", address: string): Html {
  return markup`<li>
    <a href="${address}" rel="${word === "Next" ? "next" : "prev"}">${word}<span class="unseen"> page</span></a>
  </li>`;
}

/** Pages on either side of the current one that have their own link. */
const around = 1;

/** In order, with gaps for omitted pages. */
function shownPages(present: number, last: number): (number | "gap")[] {
  const shown: (number | "gap")[] = [];
  for (let page = 1; page <= last; page++) {
    if (page === 1 || page === last || Math.abs(page - present) <= around) shown.push(page);
    else if (shown.at(-1) !== "gap") shown.push("gap");
  }
  return shown;
}

function numbered(page: number | "gap", present: number, addressOf: AddressOf): Html {
  if (page === "gap") return markup`<li class="gap" aria-hidden="true">…</li>`;
  const current = page === present ? markup` aria-current="page"` : null;
  return markup`<li><a href="${addressOf(page)}"${current}><span class="unseen">Page </span>${page}</a></li>`;
}

/** @param chosen the category whose connectors are shown; null: all; undefined: a category that is not listed */
function categoryList(filters: Filters, { categories }: Facets, chosen: string | null | undefined): Html {
  const entry = (name: string, category: string | null, count: number): Html => {
    const text = markup`${name} <span class="count">${count}<span class="unseen"> connectors</span></span>`;
    if (count === 0) return markup`<li><span class="none">${text}</span></li>`;
    const current = category === chosen ? markup` aria-current="true"` : null;
    return markup`<li><a href="${catalogAddress({ ...filters, category })}"${current}>${text}</a></li>`;
  };
  return markup`<nav class="categories" aria-labelledby="categories">
    <h2 id="categories">Categories</h2>
    <ul>
      ${entry("All", null, categories.any)} ${categories.counts.map(({ choice, count }) => entry(choice, choice, count))}
    </ul>
  </nav>`;
}

/** Begins with what distinguishes this page from others. */
function titleOf({ q, category, method }: Filters, { page, last }: { page: number; last: number }): string {
  const filters = [q === "" ? null : `“${q}”`, category, method && methodNames[method]].filter((one) => one !== null);
  const pages = last > 1 ? [`Page ${page} of ${last}`] : [];
  return [...filters, ...pages, "Connectors", "Weir"].join(" · ");
}
