/** /api/console: the one control API, for the command line, tests and the Console. */
import { DomainError } from "../accounts/errors.ts";
import { requestTarget } from "../http/request-target.ts";
import { requireMethod, Router, type RouteContext, type Routes } from "../http/router.ts";
import { jsonResponse } from "../kernel/json-response.ts";
import { authenticate } from "./authenticate.ts";
import type { Endpoint } from "./endpoint.ts";
import { endpoints } from "./endpoints.ts";
import { errorResponse } from "./error-response.ts";
import type { ControlParts } from "./parts.ts";
import { readPieces, readFields } from "./read-fields.ts";
import { runEndpoint } from "./run-endpoint.ts";
import { SessionSlots } from "./session-slots.ts";

export const controlPrefix = "/api/console";

export function controlApi(parts: ControlParts): Routes {
  const router = new Router({ prefix: controlPrefix, clock: parts.clock });
  const writeError = (error: unknown): Response => errorResponse(error, parts.log);
  const slots = new SessionSlots(parts.clock);
  for (const [path, methods] of Map.groupBy(endpoints, ({ path }) => path)) {
    router.add({ path, handle: (context) => answer(context, methods, { slots, parts }), writeError });
  }
  for (const path of ["/", "/*"]) router.add({ path, handle: (context) => answer(context, [], { slots, parts }), writeError });
  return router.app;
}

/** Authentication comes first, so that a caller without a credential learns nothing about paths, methods or names. */
async function answer(
  { request, params, server }: RouteContext,
  methods: Endpoint[],
  { slots, parts }: { slots: SessionSlots; parts: ControlParts },
): Promise<Response> {
  const address = parts.proxies.clientOf(request, server);
  const principal = await authenticate({ request, address }, parts.authenticators);
  const endpoint = endpointFor(request, methods);
  using _slot = await slots.acquire(principal, endpoint);
  const input = await readFields(request, endpoint, parts.clock);
  const file = () => readPieces(request, endpoint, parts.clock);
  const result = await runEndpoint({ principal, endpoint, input, id: params?.["id"] ?? "", request, server, file }, parts);
  if (result instanceof Response) return result;
  return jsonResponse(result, { status: endpoint.status, headers: { "cache-control": "no-store" } });
}

/** @throws DomainError not_found; MethodNotAllowedError */
function endpointFor(request: Request, methods: Endpoint[]): Endpoint {
  const endpoint = methods.find(({ method }) => method === request.method);
  if (endpoint) return endpoint;
  if (methods.length > 0)
    requireMethod(
      request,
      methods.map(({ method }) => method),
    );
  throw new DomainError("not_found", `There is no ${requestTarget(request).path} in the control API`);
}
