/** The pages as documents, each made once for a version of the catalog and cached. */
import { documentOf, type Document } from "../catalog/document.ts";
import type { CatalogCache } from "../catalog/catalog-cache.ts";
import { rowIn, type Published } from "../catalog/published.ts";
import type { PageQuery } from "../catalog/read-parameters.ts";
import { DomainError } from "../../accounts/errors.ts";
import { catalogPage } from "./catalog-page.ts";
import { htmlType } from "../../http/pages/page-document.ts";
import { setUpPage } from "./set-up-page.ts";

interface Sources {
  published: Published;
  catalogCache: CatalogCache;
}

/** @throws DomainError not_found beyond the last page */
export function catalogDocument(query: PageQuery, { published, catalogCache }: Sources): Promise<Document> {
  const make = async (): Promise<Document> => documentOf(catalogPage(query, published, catalogCache.categories), htmlType);
  return catalogCache.pages.get(`catalog ${published.number} ${JSON.stringify(query)}`, () => catalogCache.renderings.run(make));
}

/** @returns the page of this slug, or the connector's current slug */
export async function setUpDocument(
  named: string,
  { published, catalogCache, consoleOn }: Sources & { consoleOn: boolean },
): Promise<Document | { moved: string }> {
  const found = published.connectors.find(({ slug }) => slug === named);
  const { grantNotes, setGrants } = catalogCache;
  const make = (json: string): Promise<Document> =>
    documentOf(setUpPage(rowIn(json), { version: published.version, grantNotes, setGrants, consoleOn }), htmlType);
  if (found)
    return catalogCache.pages.get(`connector ${published.number} ${found.id}`, () =>
      catalogCache.renderings.run(() => make(found.json)),
    );
  const moved = published.connectors.find(({ id }) => id === named);
  if (moved) return { moved: moved.slug };
  throw new DomainError("not_found", `There is no connector "${named.slice(0, 100)}"`);
}
