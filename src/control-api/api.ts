/** /api/console: the one control API, for the command line, tests and the Console. */
import { DomainError } from "../accounts/errors.ts";
import { receiveBody, type ReceivedBody } from "../accounts/quotas/body-door.ts";
import { laneOf, type Lane } from "../accounts/quotas/lane.ts";
import { requestTarget, requireMethod, Router, type RouteContext, type Routes } from "../http/router.ts";
import { jsonResponse } from "../kernel/json.ts";
import { authenticate } from "./authenticate.ts";
import type { Endpoint } from "./endpoint.ts";
import { endpoints } from "./endpoints.ts";
import { errorResponse } from "./error-response.ts";
import { controlBodyBytesMax } from "./limits.ts";
import type { ControlParts } from "./parts.ts";
import { bodyBounds, bringsBody, readFields } from "./read-fields.ts";
import { runEndpoint } from "./run-endpoint.ts";
import { callDoor, type Door } from "./session-doors.ts";

export const controlPrefix = "/api/console";

export function controlApi(parts: ControlParts): Routes {
  const router = new Router({ prefix: controlPrefix, clock: parts.clock });
  const writeError = (error: unknown): Response => errorResponse(error, parts.log);
  const calls = callDoor(parts.clock);
  for (const [path, methods] of Map.groupBy(endpoints, ({ path }) => path)) {
    router.add({ path, handle: (context) => answer(context, methods, { calls, parts }), writeError });
  }
  for (const path of ["/", "/*"]) router.add({ path, handle: (context) => answer(context, [], { calls, parts }), writeError });
  return router.app;
}

/** Authentication comes first, so that a caller without a credential learns nothing about paths, methods or names. */
async function answer(
  { request, params, server }: RouteContext,
  methods: Endpoint[],
  { calls, parts }: { calls: Door; parts: ControlParts },
): Promise<Response> {
  const address = parts.proxies.clientOf(request, server);
  const principal = await authenticate({ request, address }, parts.authenticators);
  const endpoint = endpointFor(request, methods);
  const door = endpoint.bodyBytesMax > controlBodyBytesMax ? parts.files : calls;
  // A chat has the limits of requests to models, and the operator token, which comes from the machine itself, has none.
  const isBounded = principal.provedAt !== undefined && !endpoint.completes;
  const lane = isBounded ? await laneOf(principal, namedWorkspace(request), parts.sql) : null;
  using body = bringsBody(request, endpoint) ? await receive(request, endpoint, { door, lane, parts }) : null;
  const pieces = body?.pieces ?? [];
  using turn = lane === null ? null : await door.turns.take(lane);
  const input = await readFields({ request, pieces }, endpoint, parts.clock);
  const call = { principal, endpoint, input, id: params?.["id"] ?? "", request, server, file: async () => pieces };
  const result = await runEndpoint({ ...call, ...(turn && { turn }) }, parts);
  if (result instanceof Response) return result;
  return jsonResponse(result, { status: endpoint.status, headers: { "cache-control": "no-store" } });
}

/** @throws DomainError invalid_body, body_too_large, body_too_slow; LimitReachedError */
function receive(
  request: Request,
  endpoint: Endpoint,
  { door, lane, parts: { clock } }: { door: Door; lane: Lane | null; parts: ControlParts },
): Promise<ReceivedBody> {
  const bounds = bodyBounds(endpoint);
  return lane === null ? receiveBody(request, { ...bounds, clock }) : door.bodies.receive(request, lane, bounds);
}

function namedWorkspace(request: Request): string | null {
  return requestTarget(request).query.get("workspace");
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
