/**
 * /api/console: the one control API, for the command line, tests and the Console. A request is authenticated first, so that a caller
 * without a credential learns nothing about paths, methods or names. Then its body is bounded and read, its fields are checked, and its
 * endpoint runs. No endpoint sees a request.
 *
 * The fields of a GET or DELETE are in the query, of any other method in a JSON object. A chat of the Workbench has the limits of requests
 * to models. Calls of sessions and tools keys take turns; those with the operator token, which come from the machine itself, do not.
 */
import { DomainError, bodyTooSlow } from "../accounts/errors.ts";
import { receiveBody, type ReceivedBody } from "../accounts/quotas/body-door.ts";
import { laneOf, type Lane } from "../accounts/quotas/lane.ts";
import type { Principal } from "../accounts/members/principal.ts";
import type { BodyErrors } from "../http/body.ts";
import { isJsonObject, scanJson } from "../http/json.ts";
import { callJsonValuesMax } from "../http/limits.ts";
import { requestTarget, requireMethod, Router, type RouteContext, type Routes } from "../http/router.ts";
import type { Clock } from "../kernel/clock.ts";
import { GatewayError } from "../kernel/errors.ts";
import { jsonResponse } from "../kernel/json.ts";
import { authenticate } from "./authenticate.ts";
import type { Endpoint } from "./endpoint.ts";
import { endpoints } from "./endpoints.ts";
import { controlBodyBytesMax, controlDeadlineMs, controlFileMs } from "./limits.ts";
import type { ControlParts } from "./parts.ts";
import { errorResponse } from "./responses.ts";
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

/** Authentication comes first. */
async function answer(
  { request, params, server }: RouteContext,
  methods: Endpoint[],
  { calls, parts }: { calls: Door; parts: ControlParts },
): Promise<Response> {
  const address = parts.proxies.clientOf(request, server);
  const principal = await authenticate({ request, address }, parts.authenticators);
  const endpoint = endpointFor(request, methods);
  requireOpenTo(principal, endpoint);
  const door = endpoint.bodyBytesMax > controlBodyBytesMax ? parts.files : calls;
  // A chat has other limits, and the operator token has none.
  const isBounded = isSessionOrKey(principal) && !endpoint.completes;
  const lane = isBounded ? await laneOf(principal, namedWorkspace(request), parts.sql) : null;
  using body = bringsBody(request, endpoint) ? await receive(request, endpoint, { door, lane, parts }) : null;
  const bytes = body?.bytes ?? new Uint8Array(0);
  using turn = lane === null ? null : await door.turns.take(lane);
  const input = withOwnWorkspace(await readFields({ request, bytes }, endpoint, parts.clock), { principal, endpoint });
  const call = { principal, endpoint, input, id: params?.["id"] ?? "", request, server, file: async () => bytes };
  const result = await runEndpoint({ ...call, ...(turn && { turn }) }, parts);
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

/** @throws DomainError forbidden for what a tools key does not open */
function requireOpenTo(principal: Principal, { method, path, takesToolsKey }: Endpoint): void {
  if (principal.kind === "operator" || principal.toolsKey === undefined || takesToolsKey) return;
  const message = `Cannot ${method} ${path} with a tools key, which opens uploads, projects, findings and VEX: it requires the operator token`;
  throw new DomainError("forbidden", message);
}

/** A tools key belongs to one workspace, so that its calls need not name it. */
function withOwnWorkspace(
  input: Record<string, unknown>,
  { principal, endpoint: { fields } }: { principal: Principal; endpoint: Endpoint },
): Record<string, unknown> {
  const key = principal.kind === "person" ? principal.toolsKey : undefined;
  const isAsked = key !== undefined && input["workspace"] === undefined && fields.required?.includes("workspace") === true;
  return isAsked ? { ...input, workspace: key.workspace } : input;
}

function isSessionOrKey(principal: Principal): boolean {
  return principal.provedAt !== undefined || (principal.kind === "person" && principal.toolsKey !== undefined);
}

function namedWorkspace(request: Request): string | null {
  return requestTarget(request).query.get("workspace");
}

/** Whether the request has a body that the control API reads. */
function bringsBody({ method }: Request, { completes }: Pick<Endpoint, "completes">): boolean {
  return method !== "GET" && method !== "DELETE" && !completes;
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

const bodyErrors: BodyErrors = {
  encoded: () => invalidBody("The body must not be compressed"),
  incomplete: () => invalidBody("The body did not arrive in full and in time"),
  tooSlow: () => bodyTooSlow("body"),
  tooLarge: (bytesMax) => new DomainError("body_too_large", `The body is larger than ${bytesMax} bytes`),
};

/** What a body of the endpoint may be. */
function bodyBounds({ bodyBytesMax: bytesMax }: Pick<Endpoint, "bodyBytesMax">) {
  return { bytesMax, withinMs: bytesMax > controlBodyBytesMax ? controlFileMs : controlDeadlineMs, errors: bodyErrors };
}

/** @param bytes of the body @throws DomainError invalid_body, invalid_field for a parameter given twice */
async function readFields(
  { request, bytes }: { request: Request; bytes: Uint8Array },
  endpoint: Pick<Endpoint, "file" | "completes" | "bodyBytesMax" | "readInSubprocess">,
  clock: Clock,
): Promise<Record<string, unknown>> {
  if (!bringsBody(request, endpoint) || endpoint.file !== null) return readQuery(request);
  if (endpoint.readInSubprocess !== null && bytes.length > endpoint.readInSubprocess.fromBytes)
    return endpoint.readInSubprocess.read(bytes, clock);
  return bytes.length === 0 ? {} : parseObject(bytes, endpoint.bodyBytesMax > controlBodyBytesMax);
}

function readQuery(request: Request): Record<string, unknown> {
  const fields = new Map<string, string>();
  for (const [field, value] of requestTarget(request).query) {
    if (fields.has(field)) throw new DomainError("invalid_field", `The field "${field}" is given twice`, { field });
    fields.set(field, value);
  }
  return Object.fromEntries(fields);
}

/** Each record is checked separately; a refused one does not affect the others. */
const boundedOneByOne = { valuesMax: Infinity, depthMax: Infinity };

/** @param bringsRecords the body holds records, which have their own bounds */
function parseObject(bytes: Uint8Array, bringsRecords: boolean): Record<string, unknown> {
  let body: unknown;
  try {
    scanJson(bytes, bringsRecords ? boundedOneByOne : { valuesMax: callJsonValuesMax });
    body = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (error) {
    if (error instanceof GatewayError) throw invalidBody(error.message.replace("The request body", "The body"));
    throw invalidBody(`The body is not valid JSON: ${error instanceof Error ? error.message : "it cannot be read"}`);
  }
  if (!isJsonObject(body)) throw invalidBody("The body must be a JSON object");
  return body;
}

function invalidBody(message: string): DomainError {
  return new DomainError("invalid_body", message);
}
