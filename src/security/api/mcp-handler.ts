/**
 * MCP over HTTP: stateless, so that any gateway of a fleet can answer any request. Messages are parsed here, because the SDK bounds neither
 * depth nor values. A call beyond its key's rate gets 429 and a JSON-RPC error; any other refusal is a result with `isError`.
 *
 * Programs send no origin. Of browsers' pages only those of this machine and of `MCP_ORIGINS` are answered, so that no other page can use
 * what the person's machine can reach. They get the headers of https://fetch.spec.whatwg.org/#http-cors-protocol on every answer, so that
 * a client also reads why it was refused, and none for credentials: a key is never in a cookie.
 */
import { DomainError, LimitReachedError } from "../../accounts/errors.ts";
import type { ReleaseSlot } from "../../accounts/quotas/fair-semaphore.ts";
import { scanJson } from "../../http/json.ts";
import { callJsonValuesMax } from "../../http/limits.ts";
import { GatewayError } from "../../kernel/errors.ts";
import type { Logger } from "../../kernel/log.ts";
import { shortened } from "../../kernel/text.ts";
import { sbomCallBytesMax } from "../limits.ts";
import type { SbomResult } from "../sboms/sbom-field.ts";
import { holderOf } from "./call-limits.ts";
import { failure, type Written, errorAnswer } from "./envelope.ts";
import type { McpEndpoint } from "./mcp-server.ts";
import { callBody, throttled, readDocument } from "./read-input.ts";
import { type AuthenticatedCall, type ToolsParts, runOperation, type OperationRequest } from "./run-operation.ts";

/** Answers one message. */
export function mcpHandler(parts: ToolsParts): (call: AuthenticatedCall) => Promise<Response> {
  const callers = new WeakMap<Request, Pick<OperationRequest, "caller" | "sbom" | "release">>();
  let opened: Promise<McpEndpoint> | null = null;
  // The SDK is loaded at the first call: without MCP calls, a gateway uses 13 MB less.
  const open = (): Promise<McpEndpoint> =>
    (opened ??= import("./mcp-server.ts").then(({ mcpEndpoint }) =>
      mcpEndpoint({
        slug: parts.slug,
        call: async ({ operation, input, request }) => {
          const known = request && callers.get(request);
          return known
            ? runOperation({ operation, input, ...known, isForMcp: true, attachment: null }, parts)
            : failure(401, "Unauthorized");
        },
        onError: (error) => parts.log.debug({ event: "mcp.refused", reason: error.message }),
      }),
    ));
  return async (call) => {
    const { request, caller } = call;
    const endpoint = await open();
    const { message, sbom, release } = await readMessage(call, parts);
    try {
      if (Array.isArray(message)) return Response.json(rpcError(invalidRequest, noBatches), { status: 400 });
      const asked = withNamedForms(request);
      callers.set(asked, { caller, sbom, release });
      return await endpoint.answer(asked, message);
    } finally {
      release?.();
    }
  };
}

/**
 * A client that names no form of answer, or all forms by two stars, takes any; the SDK looks for both by name.
 * Source: https://www.rfc-editor.org/rfc/rfc9110#section-12.5.1
 */
function withNamedForms(request: Request): Request {
  const accept = request.headers.get("accept") ?? "*/*";
  if (!accept.split(",").some((one) => one.trim().startsWith("*/*"))) return request;
  const headers = new Headers(request.headers);
  headers.set("accept", "application/json, text/event-stream");
  return new Request(request.url, { method: request.method, headers, signal: request.signal });
}

/** Pages of this machine, on any port. */
const loopbackOrigin = /^https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/;
/** What a page may read of an answer besides its body. */
const exposedHeaders = "Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate, Retry-After, X-Request-Id";
/** Methods of the protocol: a client asks for an event stream by GET, and reads that there is none. */
const pageMethods = "POST, GET, DELETE";
const preflightSeconds = 600;
/** Names of headers, as a preflight lists them; no list of a client is longer. */
const headerNames = /^[\w!#$%&'*+.^`|~-]+(?:, ?[\w!#$%&'*+.^`|~-]+)*$/;
const headerNamesCharactersMax = 1_000;

/** @param allowed origins besides those of this machine, in lower case. @returns the answer to a page of another site; null: go on */
export function refuseForeign(request: Request, allowed: readonly string[]): Response | null {
  const origin = request.headers.get("origin");
  if (origin === null || isAllowed(origin, allowed)) return null;
  const message = `Pages of ${shortened(origin, 100)} may not call this service: MCP_ORIGINS lists those that may`;
  return Response.json(rpcError(limitReachedCode, message), { status: 403, headers: { vary: "Origin" } });
}

/** The answer to a browser that asks whether a page of an allowed origin may send a request; null: it does not ask. */
export function preflight(request: Request): Response | null {
  const { method, headers } = request;
  if (method !== "OPTIONS" || !headers.has("origin") || !headers.has("access-control-request-method")) return null;
  const asked = headers.get("access-control-request-headers") ?? "";
  const isList = asked.length <= headerNamesCharactersMax && headerNames.test(asked);
  return new Response(null, {
    status: 204,
    headers: {
      "access-control-allow-methods": pageMethods,
      ...(isList && { "access-control-allow-headers": asked }),
      "access-control-max-age": String(preflightSeconds),
    },
  });
}

/** Lets a page of an allowed origin read an answer. */
export function readableByPage(request: Request, response: Response): Response {
  response.headers.append("vary", "Origin");
  const origin = request.headers.get("origin");
  if (origin === null) return response;
  response.headers.set("access-control-allow-origin", origin);
  response.headers.set("access-control-expose-headers", exposedHeaders);
  return response;
}

function isAllowed(origin: string, allowed: readonly string[]): boolean {
  return loopbackOrigin.test(origin) || allowed.includes(origin.toLowerCase());
}

/** The revision of 2025-06-18 removed batches: one request would be many calls. */
const noBatches = "Batches are not part of the protocol: send one JSON-RPC message per request";
/** https://www.jsonrpc.org/specification, 5.1; -32000 and below are for servers to define. */
const invalidRequest = -32600;
const limitReachedCode = -32000;

/** MCP clients read JSON-RPC, so a reached limit is a JSON-RPC error without the id of a message. */
export function mcpErrorAnswer(error: unknown, log: Logger): Written {
  const answer = errorAnswer(error, log);
  if (!(error instanceof LimitReachedError)) return answer;
  return { ...answer, body: rpcError(limitReachedCode, error.message) };
}

/** Where a call has its document. */
const sbomPath = ["params", "arguments", "sbom"];

/** Parses the message here, because the SDK bounds neither depth nor values. */
async function readMessage(
  call: AuthenticatedCall,
  parts: ToolsParts,
): Promise<{ message: unknown; sbom: SbomResult | null; release: ReleaseSlot | null }> {
  const { sboms, limits } = parts;
  using lease = limits.documents.lease(holderOf(call.caller));
  const pieces = callBody(call.request, { ...throttled(parts), lease, bytesMax: sbomCallBytesMax });
  const acquire = (large: boolean) => (large ? limits.acquireLong(call.caller) : null);
  const { sbom, rest, release } = await readDocument(call, { sboms, pieces, path: sbomPath, acquire });
  try {
    scanJson(rest, { valuesMax: callJsonValuesMax });
    return { message: JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(rest)), sbom, release };
  } catch (error) {
    release?.();
    if (error instanceof GatewayError) throw new DomainError("invalid_body", error.message);
    throw new DomainError("invalid_body", "The body is not valid JSON in UTF-8: send one JSON-RPC message");
  }
}

function rpcError(code: number, message: string) {
  return { jsonrpc: "2.0", id: null, error: { code, message } };
}
