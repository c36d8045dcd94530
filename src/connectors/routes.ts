/** The catalog's public paths onto their documents; no logic. */
import { Elysia } from "elysia";
import { withDeadline, type Clock } from "../kernel/clock.ts";
import type { Logger } from "../kernel/log.ts";
import { requestTarget } from "../kernel/request-target.ts";
import { connectorsDeadlineMs } from "../limits/tools.ts";
import { answer } from "./answer.ts";
import { documentOf } from "./document.ts";
import { changesDocument, exportDocument, listDocument, rowDocument } from "./documents.ts";
import type { ConnectorLibrary } from "./library.ts";
import { readListQuery, readSince, refuseParameters } from "./read-parameters.ts";
import type { Published } from "./published.ts";
import { ConnectorRefusal, refusalResponse } from "./refusal.ts";
import { rowSchemaText } from "./row-schema.ts";

export interface ConnectorParts {
  library: ConnectorLibrary;
  clock: Clock;
  log: Logger;
}

interface Context {
  request: Request;
  /** Absent where the path has none. */
  params?: Record<string, string>;
}

type Endpoint = (call: { request: Request; query: URLSearchParams; word: string }) => Promise<Response>;

export function connectorRoutes({ library, clock, log }: ConnectorParts): Elysia {
  const app = new Elysia({ normalize: false });
  const route = (path: string, endpoint: Endpoint): void => {
    app.all(path, (context: Context) => guarded(context, endpoint, { clock, log }), { parse: "none" });
  };
  const schema = documentOf(rowSchemaText(), "application/schema+json");
  route("/api/connectors", async ({ request, query }) => {
    const published = present(library);
    const document = await listDocument(readListQuery(query, library.categories), { published, library });
    return answer(request, document, { stays: "until changed", ranges: false, version: published.version });
  });
  route("/api/connectors/:slug", async ({ request, query, word }) => {
    refuseParameters(query);
    const published = present(library);
    const document = await rowDocument(word, { published, library });
    return answer(request, document, { stays: "until changed", ranges: false, version: published.version });
  });
  route("/api/connector-exports/:file", async ({ request, query, word }) => {
    refuseParameters(query);
    const { document, version, stays } = await exportDocument(word, { published: present(library), library });
    return answer(request, document, { stays, ranges: true, version });
  });
  route("/api/connector-changes", async ({ request, query }) => {
    const since = readSince(query);
    const published = present(library);
    const document = await changesDocument(since, { published, library });
    return answer(request, document, { stays: "until changed", ranges: false, version: published.version });
  });
  route("/api/connector-schema.json", async ({ request, query }) => {
    refuseParameters(query);
    return answer(request, await schema, { stays: "until changed", ranges: false, version: null });
  });
  return app as unknown as Elysia;
}

/** @throws ConnectorRefusal 503 until a catalog was published */
function present({ published }: ConnectorLibrary): Published {
  if (published) return published;
  throw new ConnectorRefusal(503, "There is no connector catalog yet: try again shortly", { "retry-after": "5" });
}

async function guarded(
  { request, params }: Context,
  endpoint: Endpoint,
  { clock, log }: Omit<ConnectorParts, "library">,
): Promise<Response> {
  try {
    if (request.method !== "GET" && request.method !== "HEAD") {
      throw new ConnectorRefusal(405, "Method Not Allowed", { allow: "GET, HEAD" });
    }
    const call = { request, query: requestTarget(request).query, word: Object.values(params ?? {})[0] ?? "" };
    return await withDeadline(clock, connectorsDeadlineMs, "The catalog's answer", endpoint(call));
  } catch (error) {
    if (error instanceof ConnectorRefusal) return refusalResponse(error);
    log.warn({ event: "connectors.failed", reason: String(error) }, "The database did not answer for the connector catalog");
    const detail = "The catalog cannot be read at present: try again shortly";
    return refusalResponse(new ConnectorRefusal(503, detail, { "retry-after": "5" }));
  }
}
