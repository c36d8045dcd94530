/**
 * The catalog's search form, which works without a script, its filter chips, the advice for empty results, and addresses within the
 * catalog. Each choice shows the number of connectors that it would leave, with the other filters unchanged.
 */
import { markup, type Html } from "../../http/html.ts";
import { methodNames } from "../catalog/files/columns.ts";
import { methods, type Method } from "../catalog/files/schema.ts";
import { type Filters, passing } from "../catalog/find.ts";
import type { PublishedConnector } from "../catalog/published.ts";
import { queryCharactersMax, type PageQuery } from "../catalog/read-parameters.ts";

export function searchForm({ category, method, testable, q }: Filters, { categories, methods }: Facets): Html {
  return markup`<form class="search" role="search" action="/connectors" method="get">
    <p class="wide">
      <label for="q">Name or vendor</label>
      <input id="q" name="q" type="search" value="${q}" maxlength="${queryCharactersMax}" autocomplete="off" spellcheck="false" />
    </p>
    <p class="send"><button type="submit">Search</button></p>
    <p>
      <label for="category">Category</label>
      <select id="category" name="category">
        ${options(categories, { chosen: category, any: "All categories", label: (name) => name })}
      </select>
    </p>
    <p>
      <label for="method">Connect with</label>
      <select id="method" name="method">
        ${options(methods, { chosen: method, any: "Any method", label: (name) => methodNames[name] })}
      </select>
    </p>
    <p class="wide-only">
      <label for="testable">Credentials</label>
      <select id="testable" name="testable">
        <option value="">Any</option>
        <option value="yes"${testable ? markup` selected` : null}>Can be tested</option>
      </select>
    </p>
  </form>`;
}

/** The filters of a list as chips that remove them; null without filters. */
export function filterChips(filters: Filters): Html | null {
  const chips = chosen(filters).map(
    ({ label, without }) =>
      markup`<li>
        <a class="chip" href="${catalogAddress(without)}"><span class="unseen">Remove the filter </span>${label}<span aria-hidden="true"> ×</span></a>
      </li>`,
  );
  if (chips.length === 0) return null;
  const all = chips.length > 1 ? markup`<li><a class="clear" href="/connectors">Remove all</a></li>` : null;
  return markup`<ul class="chips" aria-label="Filters">
    ${chips} ${all}
  </ul>`;
}

/** @param searched how many connectors the words find without the filters */
export function adviceForNothing(filters: Filters, { searched, facets }: { searched: number; facets: Facets }): Html {
  const { q, category, method } = filters;
  const found = (count: number): string => `${count} ${count === 1 ? "connector" : "connectors"}`;
  const link = (address: string, words: string): Html => markup`<li><a href="${address}">${words}</a></li>`;
  const wider = [
    category !== null && method !== null && facets.methods.any > 0
      ? link(catalogAddress({ ...filters, method: null }), `Connect in any way: ${found(facets.methods.any)}`)
      : null,
    category !== null && method !== null && facets.categories.any > 0
      ? link(catalogAddress({ ...filters, category: null }), `In all categories: ${found(facets.categories.any)}`)
      : null,
    q !== "" && searched > 0 ? link(catalogAddress({ q }), `“${q}” without the filters: ${found(searched)}`) : null,
    link("/connectors", "See all connectors"),
  ].filter((one) => one !== null);
  return markup`<p>${causeOf(filters, searched)}</p>
    <ul>
      ${wider}
    </ul>`;
}

/** The counts of one filter's choices. */
interface Facet<Choice> {
  /** The count without this filter. */
  any: number;
  counts: { choice: Choice; count: number }[];
}

export interface Facets {
  categories: Facet<string>;
  /** Only methods that a connector of the catalog has. */
  methods: Facet<Method>;
}

interface Sources {
  /** The connectors that the words find. */
  searched: readonly PublishedConnector[];
  /** All connectors of the catalog. */
  connectors: readonly PublishedConnector[];
  categories: readonly string[];
}

export function facetsOf(
  { category, method, testable }: Omit<Filters, "q">,
  { searched, connectors, categories }: Sources,
): Facets {
  const ofAnyCategory = passing(searched, { category: null, method, testable });
  const ofAnyMethod = passing(searched, { category, method: null, testable });
  const byCategory = countsOf(ofAnyCategory, (one) => [one.category]);
  const byMethod = countsOf(ofAnyMethod, (one) => one.methods);
  const known = methods.filter((method) => connectors.some((one) => one.methods.includes(method)));
  return {
    categories: {
      any: ofAnyCategory.length,
      counts: categories.map((choice) => ({ choice, count: byCategory.get(choice) ?? 0 })),
    },
    methods: { any: ofAnyMethod.length, counts: known.map((choice) => ({ choice, count: byMethod.get(choice) ?? 0 })) },
  };
}

/** An address within the catalog. It omits unset filters and the first page's number. */
export function catalogAddress({ category, method, testable, q, page }: Partial<PageQuery>): string {
  const query = new URLSearchParams();
  if (q) query.set("q", q);
  if (category) query.set("category", category);
  if (method) query.set("method", method);
  if (testable) query.set("testable", "yes");
  if (page !== undefined && page > 1) query.set("page", String(page));
  return query.size === 0 ? "/connectors" : `/connectors?${query}`;
}

export function connectorAddress(slug: string): string {
  return `/connectors/${encodeURIComponent(slug)}`;
}

/** Each option has the number of connectors that it would leave. */
function options<Choice extends string>(
  { any, counts }: Facet<Choice>,
  words: { chosen: Choice | null; any: string; label: (choice: Choice) => string },
): Html {
  const option = (value: string, text: string, count: number): Html => {
    const selected = value === (words.chosen ?? "") ? markup` selected` : null;
    return markup`<option value="${value}"${selected}>${text} (${count})</option>`;
  };
  return markup`${option("", words.any, any)}${counts.map(({ choice, count }) => option(choice, words.label(choice), count))}`;
}

function chosen(filters: Filters): { label: string; without: Filters }[] {
  const { q, category, method, testable } = filters;
  return [
    ...(q === "" ? [] : [{ label: `“${q}”`, without: { ...filters, q: "" } }]),
    ...(category === null ? [] : [{ label: category, without: { ...filters, category: null } }]),
    ...(method === null ? [] : [{ label: methodNames[method], without: { ...filters, method: null } }]),
    ...(testable ? [{ label: "Can be tested", without: { ...filters, testable: false } }] : []),
  ];
}

function causeOf({ q, category, method, testable }: Filters, searched: number): string {
  if (q !== "" && searched === 0)
    return "No name, former name, vendor or category begins like this. Try the vendor's name, or one word fewer.";
  const place = category === null ? "" : ` in ${category}`;
  const way = `${method === null ? "" : ` with ${methodNames[method]}`}${testable ? " whose credentials can be tested" : ""}`;
  return q === "" ? `There is none${place}${way}.` : `“${q}” is found elsewhere, but not${place}${way}.`;
}

function countsOf(
  connectors: readonly PublishedConnector[],
  choicesOf: (one: PublishedConnector) => readonly string[],
): Map<string, number> {
  const counts = new Map<string, number>();
  for (const one of connectors) for (const choice of choicesOf(one)) counts.set(choice, (counts.get(choice) ?? 0) + 1);
  return counts;
}
