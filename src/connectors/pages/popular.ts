/** The vendors that most readers look for, at the head of the whole list. */
import type { PublishedConnector } from "../catalog/published.ts";
import { bestKnown, type SearchTerms } from "../catalog/search/search-terms.ts";
import { connectorAddress } from "./catalog-address.ts";
import { markup, type Html } from "../../http/html.ts";
import { monogram } from "../../http/pages/monogram.ts";

const shown = 12;

/** null if none is known to be popular. */
export function popularVendors(terms: SearchTerms<PublishedConnector>): Html | null {
  const vendors = bestKnown(terms, shown);
  if (vendors.length === 0) return null;
  return markup`<section class="popular" aria-labelledby="popular">
    <h2 id="popular">Popular</h2>
    <ul>
      ${vendors.map(({ slug, name }) => markup`<li><a href="${connectorAddress(slug)}">${monogram(name)}<span>${name}</span></a></li>`)}
    </ul>
  </section>`;
}
