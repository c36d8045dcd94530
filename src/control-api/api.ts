/** /api/console: the one control API, which the command line, tests and the Console call with the operator token. */
import { Elysia } from "elysia";
import { withDeadline } from "../kernel/clock.ts";
import { peerAddress, type Peers } from "../kernel/peer-address.ts";
import { requestTarget } from "../http/request-target.ts";
import { jsonResponse } from "../kernel/json-response.ts";
import { drainRequest } from "../http/drain-request.ts";
import { DomainError } from "../accounts/errors.ts";
import { resolveActors } from "./actor-resolver.ts";
import { authenticate } from "./authenticate.ts";
import type { Endpoint } from "./endpoint.ts";
import { endpoints } from "./endpoints.ts";
import type { ControlParts } from "./parts.ts";
import { readPieces, readFields } from "./read-fields.ts";
import { refuse } from "./refuse.ts";

export const controlPrefix = "/api/console";

interface Context {
  request: Request;
  /** Absent where the path has none. */
  params?: Record<string, string>;
  server: Peers;
}

export function controlApi(parts: ControlParts) {
  const app = new Elysia({ prefix: controlPrefix, normalize: false });
  const byPath = Map.groupBy(endpoints, ({ path }) => path);
  for (const [path, methods] of byPath) {
    app.all(path, (context: Context) => answer(context, methods, parts), { parse: "none" });
  }
  for (const path of ["/", "/*"]) app.all(path, (context: Context) => answer(context, [], parts), { parse: "none" });
  return app;
}

/** The token comes before everything else: who has none learns nothing of paths, methods or names. */
async function answer({ request, params, server }: Context, methods: Endpoint[], parts: ControlParts): Promise<Response> {
  try {
    const address = peerAddress(request, server);
    const principal = await authenticate({ request, address }, parts.authenticators);
    const endpoint = chosen(request, methods);
    const call = {
      input: await readFields(request, endpoint, parts.clock),
      id: params?.["id"] ?? "",
      actors: resolveActors(principal, parts),
      request,
      file: () => readPieces(request, endpoint, parts.clock),
      parts,
    };
    const result = await withDeadline(parts.clock, endpoint.deadlineMs, "The request", endpoint.run(call));
    if (result instanceof Response) return result;
    return jsonResponse(result, { status: endpoint.status, headers: { "cache-control": "no-store" } });
  } catch (error) {
    await drainRequest(request, parts.clock);
    const refusal = refuse(error, parts.log);
    if (refusal.status === 405) refusal.headers.set("allow", methods.map(({ method }) => method).join(", "));
    return refusal;
  }
}

function chosen(request: Request, methods: Endpoint[]): Endpoint {
  const endpoint = methods.find(({ method }) => method === request.method);
  if (endpoint) return endpoint;
  if (methods.length === 0) {
    throw new DomainError("not_found", `There is no ${requestTarget(request).path} in the control API`);
  }
  const allowed = methods.map(({ method }) => method).join(" and ");
  throw new DomainError("method_not_allowed", `Cannot ${request.method} this: it takes ${allowed}`);
}
