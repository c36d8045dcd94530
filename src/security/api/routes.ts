/** The tools API over HTTP: `POST /api/tools/<slug>_<operation>`, `/mcp`, and the handler for files beside them; no logic. */
import { Elysia } from "elysia";
import { drainRequest } from "../../http/drain-request.ts";
import { newRequestId } from "../../kernel/ids.ts";
import type { Logger } from "../../kernel/log.ts";
import { requestTarget } from "../../http/request-target.ts";
import { jsonResponse } from "../../kernel/json-response.ts";
import type { Operation } from "./operations/operation.ts";
import { authenticate } from "./authenticate.ts";
import type { AuthenticatedCall } from "./calls/authenticated-call.ts";
import { attachmentHeader, attachmentsPath, mcpPath, toolsPrefix } from "./calls/paths.ts";
import { failure, type Answer, type Written } from "./calls/envelope.ts";
import { mcpHandler, mcpFailure } from "./mcp/mcp-handler.ts";
import { fullName, operations } from "./calls/operations.ts";
import type { ToolsParts } from "./calls/parts.ts";
import { runOperation, refuse } from "./calls/run-operation.ts";
import { readInput } from "./calls/read-input.ts";
import { takeAttachment } from "./calls/take-attachment.ts";

interface Context {
  request: Request;
}

/** Answers a request whose caller is known. */
type Handler = (call: AuthenticatedCall) => Promise<Answer | Response>;

interface Served {
  handler: Handler;
  /** How it says no. */
  refusal(error: unknown, log: Logger): Written;
}

export function toolsRoutes(parts: ToolsParts): Elysia {
  const app = new Elysia({ normalize: false });
  const route = (path: string, handler: Handler, refusal: Served["refusal"] = refuse): void => {
    app.all(path, ({ request }: Context) => answer(request, parts, { handler, refusal }), { parse: "none" });
  };
  for (const operation of operations) route(`${toolsPrefix}/${fullName(parts.slug, operation)}`, callOf(operation, parts));
  const { attachments } = parts;
  if (attachments !== null) {
    route(attachmentsPath, (call) => takeAttachment(call, { ...parts, attachments }));
  }
  route(mcpPath, mcpHandler(parts), mcpFailure);
  for (const path of [toolsPrefix, `${toolsPrefix}/*`, ...(attachments === null ? [attachmentsPath] : [])]) {
    app.all(path, ({ request }: Context) => unknownPath(request, parts), { parse: "none" });
  }
  return app as unknown as Elysia;
}

function callOf(operation: Operation, parts: ToolsParts): Handler {
  return async (call) => {
    const { fields, ...read } = await readInput(call, operation, parts);
    const { request, caller } = call;
    return runOperation({ operation, input: fields, caller, attachment: request.headers.get(attachmentHeader), ...read }, parts);
  };
}

/** A wrong method comes before the key, for paths and methods are public; the key before the body. */
async function answer(request: Request, parts: ToolsParts, { handler, refusal }: Served): Promise<Response> {
  if (request.method !== "POST") {
    const wrong = failure(405, `Cannot ${request.method} ${requestTarget(request).path}: it takes POST`);
    return written(request, parts, { ...wrong, headers: { allow: "POST" } });
  }
  try {
    const call = await authenticate(request, parts);
    const answered = call === null ? failure(401, "Unauthorized") : await handler(call);
    if (!(answered instanceof Response)) return await written(request, parts, answered);
    answered.headers.set("x-content-type-options", "nosniff");
    return answered;
  } catch (error) {
    return written(request, parts, refusal(error, parts.log));
  }
}

function unknownPath(request: Request, parts: ToolsParts): Promise<Response> {
  return written(request, parts, failure(404, `There is no operation ${requestTarget(request).path}: /openapi.json names all`));
}

async function written(request: Request, { clock }: ToolsParts, { status, body, headers = {} }: Written): Promise<Response> {
  await drainRequest(request, clock);
  const always = { "cache-control": "no-store", "x-request-id": newRequestId(clock.now()) };
  return jsonResponse(body, { status, headers: { ...always, ...headers } });
}
