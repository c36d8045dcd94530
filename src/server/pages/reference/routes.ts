/** /reference and a page for each part of it, made of the OpenAPI document when one of them is first asked for. */
import { notFound } from "../../../gateway/api/routes.ts";
import { answer, documentOf, type Document } from "../../../connectors/catalog/document.ts";
import { htmlType, pageHeaders } from "../../../http/page.ts";
import { Router, type RouteContext, type Routes } from "../../../http/router.ts";
import type { Clock } from "../../../kernel/clock.ts";
import type { OpenApiDocument } from "../../../openapi/document.ts";
import { referenceOriginMs, referenceOriginsMax } from "../../limits.ts";
import { serviceOrigin } from "../service-origin.ts";
import { copyScript, referencePath } from "../site-header.ts";
import { partsOf, type Part } from "./described.ts";
import { overviewPage } from "./overview-page.ts";
import { partPage, referenceStyle, referenceText, type ReferencePage } from "./reference-page.ts";

export interface ReferenceParts {
  /** The OpenAPI document as JSON. */
  description: string;
  consoleOn: boolean;
  /** null: PUBLIC_URL is not set. */
  publicOrigin: string | null;
  clock: Clock;
}

const policy = pageHeaders({ style: referenceStyle, scripts: [copyScript], forms: "none" });

export function referenceRoutes({ description, consoleOn, publicOrigin, clock }: ReferenceParts): Routes {
  const router = new Router({ clock });
  const page = pagesOf({ description, consoleOn, clock });
  const show = async ({ request, params }: RouteContext): Promise<Response> => {
    const { method } = request;
    const origin = serviceOrigin(request, publicOrigin);
    const shown = method === "GET" || method === "HEAD" ? page(params?.["part"] ?? null, origin) : null;
    if (shown === null) return notFound();
    return answer(request, await shown, { stays: "until changed", ranges: false, version: null, headers: policy });
  };
  for (const path of [referencePath, `${referencePath}/:part`]) router.add({ path, handle: show, writeError: () => notFound() });
  return router.app;
}

type PageMaker = (name: string | null, origin: string | null) => Promise<Document> | null;

/** @returns makes each page once; null for a name that no part has; the name null is the overview's */
function pagesOf({ description, consoleOn, clock }: Omit<ReferenceParts, "publicOrigin">): PageMaker {
  const made = new Map<string, Promise<Document>>();
  let read: { document: OpenApiDocument; parts: Part[] } | null = null;
  const make = (page: ReferencePage, parts: readonly Part[]) => documentOf(referenceText(page, parts, consoleOn), htmlType);
  const overview = lastOverviews((origin) => {
    const { document, parts } = (read ??= readDescription(description));
    return make(overviewPage(document, parts, origin), parts);
  }, clock);
  return (name, origin) => {
    if (name === null) return overview(origin);
    const { parts } = (read ??= readDescription(description));
    const part = parts.find((one) => one.name === name);
    if (part === undefined) return null;
    const page = made.get(name) ?? make(partPage(part), parts);
    made.set(name, page);
    return page;
  };
}

/** The overview has the service's address. Those of the last addresses are kept, and whoever names ever others gets it without one. */
function lastOverviews(make: (origin: string | null) => Promise<Document>, clock: Clock): typeof make {
  const kept = new Map<string | null, Promise<Document>>();
  let nextAtMs = 0;
  return (asked) => {
    const hasRoom = kept.size < referenceOriginsMax || clock.monotonic() >= nextAtMs;
    const origin = hasRoom || kept.has(asked) ? asked : null;
    const known = kept.get(origin);
    if (known !== undefined) return known;
    const [oldest = null] = kept.keys();
    if (kept.size === referenceOriginsMax) kept.delete(oldest);
    const fresh = make(origin);
    kept.set(origin, fresh);
    nextAtMs = clock.monotonic() + referenceOriginMs;
    return fresh;
  };
}

function readDescription(description: string): { document: OpenApiDocument; parts: Part[] } {
  const document = JSON.parse(description) as OpenApiDocument;
  return { document, parts: partsOf(document) };
}
