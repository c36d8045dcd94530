/** /reference and a page for each part of it, made of the OpenAPI document when one of them is first asked for. */
import { notFound } from "../../../gateway/api/routes.ts";
import { answer } from "../../../connectors/catalog/http/answer.ts";
import { documentOf, type Document } from "../../../connectors/catalog/document.ts";
import { htmlType } from "../../../http/pages/page-document.ts";
import { pageHeaders } from "../../../http/pages/page-headers.ts";
import { Router, type RouteContext, type Routes } from "../../../http/router.ts";
import type { Clock } from "../../../kernel/clock.ts";
import type { OpenApiDocument } from "../../../openapi/document.ts";
import { referencePath } from "../site-header.ts";
import { partsOf, type Part } from "./described.ts";
import { overviewPage } from "./overview-page.ts";
import { partPage, referenceStyle, referenceText } from "./reference-page.ts";

export interface ReferenceParts {
  /** The OpenAPI document as JSON. */
  description: string;
  consoleOn: boolean;
  clock: Clock;
}

const policy = pageHeaders({ style: referenceStyle, scripts: [], forms: "none" });

export function referenceRoutes({ description, consoleOn, clock }: ReferenceParts): Routes {
  const router = new Router({ clock });
  const page = pagesOf(description, consoleOn);
  const show = async ({ request, params }: RouteContext): Promise<Response> => {
    const { method } = request;
    const shown = method === "GET" || method === "HEAD" ? page(params?.["part"] ?? null) : null;
    if (shown === null) return notFound();
    return answer(request, await shown, { stays: "until changed", ranges: false, version: null, headers: policy });
  };
  for (const path of [referencePath, `${referencePath}/:part`]) router.add({ path, handle: show, writeError: () => notFound() });
  return router.app;
}

/** Makes each page once. @returns null for a name that no part has; the name null is the overview's */
function pagesOf(description: string, consoleOn: boolean): (name: string | null) => Promise<Document> | null {
  const made = new Map<string | null, Promise<Document>>();
  let read: { document: OpenApiDocument; parts: Part[] } | null = null;
  return (name) => {
    read ??= readDescription(description);
    const { document, parts } = read;
    const part = parts.find((one) => one.name === name);
    if (name !== null && part === undefined) return null;
    const kept = made.get(name);
    if (kept !== undefined) return kept;
    const page = part === undefined ? overviewPage(document, parts) : partPage(part);
    const fresh = documentOf(referenceText(page, parts, consoleOn), htmlType);
    made.set(name, fresh);
    return fresh;
  };
}

function readDescription(description: string): { document: OpenApiDocument; parts: Part[] } {
  const document = JSON.parse(description) as OpenApiDocument;
  return { document, parts: partsOf(document) };
}
