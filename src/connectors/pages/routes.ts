/**
 * Maps the catalog's public paths to their documents. Pages are made once per version of the catalog and cached, like the API's documents.
 * A former slug that is a connector's id redirects to the current page; an unknown slug is refused with the nearest one as a hint.
 */
import { DomainError } from "../../accounts/errors.ts";
import type { Html } from "../../http/html.ts";
import { htmlType } from "../../http/page.ts";
import { requestTarget, Router, type ErrorWriter, type RouteContext, type Routes } from "../../http/router.ts";
import { withDeadline, type Clock } from "../../kernel/clock.ts";
import type { Logger } from "../../kernel/log.ts";
import type { CatalogCache } from "../catalog/catalog-cache.ts";
import { answer, documentOf, type Document } from "../../http/document.ts";
import { changesDocument, exportDocument, listDocument, rowDocument, schemaDocument } from "../catalog/documents.ts";
import { type Published, rowIn } from "../catalog/published.ts";
import { readListQuery, readPageQuery, readSince, refuseParameters, type PageQuery } from "../catalog/read-parameters.ts";
import { refusalOf, refusalResponse, type CatalogRefusal } from "../catalog/refusal.ts";
import { connectorsDeadlineMs } from "../limits.ts";
import { catalogPage } from "./catalog-page.ts";
import { connectorAddress } from "./filters.ts";
import { catalogPageHeaders, firstPage, nearestConnector, refusalPage } from "./page.ts";
import { setUpPage } from "./set-up-page.ts";

export interface ConnectorParts {
  catalogCache: CatalogCache;
  clock: Clock;
  log: Logger;
  /** Whether the service has the Console, to which pages then link. */
  consoleOn?: boolean;
}

interface CatalogCall {
  request: Request;
  query: URLSearchParams;
  /** From the path; empty if it has none. */
  word: string;
}

type Endpoint = (call: CatalogCall) => Promise<Response>;

/** How a path answers a refusal. */
type Refuse = (refusal: CatalogRefusal, call: CatalogCall) => Response | Promise<Response>;

type Route = (path: string, endpoint: Endpoint, refuse?: Refuse) => void;

export function connectorRoutes({ catalogCache, clock, log, consoleOn = false }: ConnectorParts): Routes {
  const router = new Router({ clock });
  const route: Route = (path, endpoint, refuse = refusalResponse) => {
    const handle = (context: RouteContext): Promise<Response> =>
      withDeadline(clock, connectorsDeadlineMs, "The catalog's answer", endpoint(callOf(context)));
    const writeError: ErrorWriter = (error, context) => refuse(refusalOf(error, log), callOf(context));
    router.add({ path, methods: ["GET", "HEAD"], handle, writeError });
  };
  route("/api/connectors", async ({ request, query }) => {
    const published = present(catalogCache);
    const document = await listDocument(readListQuery(query, catalogCache.categories), { published, catalogCache });
    return answer(request, document, { stays: "until changed", ranges: false, version: published.version });
  });
  route("/api/connectors/:slug", async ({ request, query, word }) => {
    refuseParameters(query);
    const published = present(catalogCache);
    const document = await rowDocument(word, { published, catalogCache });
    return answer(request, document, { stays: "until changed", ranges: false, version: published.version });
  });
  route("/api/connector-exports/:file", async ({ request, query, word }) => {
    refuseParameters(query);
    const { document, version, stays } = await exportDocument(word, { published: present(catalogCache), catalogCache });
    return answer(request, document, { stays, ranges: true, version });
  });
  route("/api/connector-changes", async ({ request, query }) => {
    const since = readSince(query);
    const published = present(catalogCache);
    const document = await changesDocument(since, { published, catalogCache });
    return answer(request, document, { stays: "until changed", ranges: false, version: published.version });
  });
  route("/api/connector-schema.json", async ({ request, query }) => {
    refuseParameters(query);
    return answer(request, await schemaDocument(catalogCache), { stays: "until changed", ranges: false, version: null });
  });
  routePages(route, { catalogCache, consoleOn });
  return router.app;
}

function callOf({ request, params }: RouteContext): CatalogCall {
  return { request, query: requestTarget(request).query, word: Object.values(params ?? {})[0] ?? "" };
}

/** @throws DomainError unavailable until a catalog is published */
function present({ published }: CatalogCache): Published {
  if (published) return published;
  throw new DomainError("unavailable", "There is no connector catalog yet: try again shortly");
}

function routePages(route: Route, { catalogCache, consoleOn }: { catalogCache: CatalogCache; consoleOn: boolean }): void {
  const ofPage = { stays: "until changed", ranges: false } as const;
  route(
    "/connectors",
    async ({ request, query }) => {
      const published = present(catalogCache);
      const document = await catalogDocument(readPageQuery(query, catalogCache.categories), { published, catalogCache });
      return answer(request, document, { ...ofPage, version: published.version, headers: catalogPageHeaders("search") });
    },
    (refusal, { query }) =>
      refusalPage(refusal, refusal.status === 404 ? firstPage(readPageQuery(query, catalogCache.categories)) : null),
  );
  route(
    "/connectors/:slug",
    async ({ request, query, word }) => {
      refuseParameters(query);
      const published = present(catalogCache);
      const document = await setUpDocument(word, { published, catalogCache, consoleOn });
      if ("moved" in document) return movedTo(document.moved);
      return answer(request, document, { ...ofPage, version: published.version, headers: catalogPageHeaders("set-up") });
    },
    async (refusal, { word }) => refusalPage(refusal, refusal.status === 404 ? await nearest(word, catalogCache) : null),
  );
}

interface Sources {
  published: Published;
  catalogCache: CatalogCache;
}

/** @throws DomainError not_found beyond the last page */
function catalogDocument(query: PageQuery, { published, catalogCache }: Sources): Promise<Document> {
  const make = async (): Promise<Document> => documentOf(catalogPage(query, published, catalogCache.categories), htmlType);
  return catalogCache.pages.get(`catalog ${published.number} ${JSON.stringify(query)}`, () => catalogCache.renderings.run(make));
}

/** @returns the page for this slug, or the connector's current slug */
async function setUpDocument(
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

/** The id is the first slug, so old addresses redirect to the current one, which may change again. */
function movedTo(slug: string): Response {
  return new Response(null, { status: 307, headers: { location: connectorAddress(slug), "cache-control": "no-cache" } });
}

/** Searches in the rendering queue; null if the queue is full or no name is similar. */
function nearest(word: string, { renderings, published }: CatalogCache): Promise<Html | null> {
  try {
    return renderings.run(async () => nearestConnector(word, published));
  } catch {
    return Promise.resolve(null);
  }
}
