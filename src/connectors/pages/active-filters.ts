/** The filters of a list: as chips that remove them, and as advice if nothing is left. */
import { methodNames } from "../catalog/files/columns.ts";
import type { Filters } from "../catalog/filter.ts";
import { catalogAddress } from "./catalog-address.ts";
import type { Facets } from "./facets.ts";
import { markup, type Html } from "../../http/html.ts";

/** null without filters. */
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

function chosen(filters: Filters): { label: string; without: Filters }[] {
  const { q, category, method } = filters;
  return [
    ...(q === "" ? [] : [{ label: `“${q}”`, without: { ...filters, q: "" } }]),
    ...(category === null ? [] : [{ label: category, without: { ...filters, category: null } }]),
    ...(method === null ? [] : [{ label: methodNames[method], without: { ...filters, method: null } }]),
  ];
}

/** @param searched how many connectors the words alone find */
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

function causeOf({ q, category, method }: Filters, searched: number): string {
  if (q !== "" && searched === 0)
    return "No name, former name, vendor or category begins so. Try the vendor's name, or one word fewer.";
  const place = category === null ? "" : ` in ${category}`;
  const way = method === null ? "" : ` with ${methodNames[method]}`;
  return q === "" ? `There is none${place}${way}.` : `“${q}” is found elsewhere, but not${place}${way}.`;
}
