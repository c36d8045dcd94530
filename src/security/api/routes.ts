/** The tools API over HTTP: `POST /api/tools/<slug>_<operation>`, `/mcp`, and the path for attachments; no logic. */
import { drainRequest } from "../../http/drain-request.ts";
import { requestTarget } from "../../http/request-target.ts";
import { Router, type RouteContext, type Routes } from "../../http/router.ts";
import { newRequestId } from "../../kernel/ids.ts";
import { jsonResponse } from "../../kernel/json-response.ts";
import type { Logger } from "../../kernel/log.ts";
import { authenticate } from "./authenticate.ts";
import type { AuthenticatedCall } from "./calls/authenticated-call.ts";
import { failure, type CallAnswer, type Written } from "./calls/envelope.ts";
import { errorAnswer } from "./calls/error-answer.ts";
import { fullName, operations } from "./calls/operations.ts";
import type { ToolsParts } from "./calls/parts.ts";
import { attachmentHeader, attachmentsPath, mcpPath, toolsPrefix } from "./calls/paths.ts";
import { readInput } from "./calls/read-input.ts";
import { runOperation } from "./calls/run-operation.ts";
import { takeAttachment } from "./calls/take-attachment.ts";
import { mcpErrorAnswer, mcpHandler } from "./mcp/mcp-handler.ts";
import type { Operation } from "./operations/operation.ts";

type Handler = (call: AuthenticatedCall) => Promise<CallAnswer | Response>;
type ErrorAnswer = (error: unknown, log: Logger) => Written;

/** Methods and paths are public, so a wrong one is answered before the key is checked; the body is read after it. */
export function toolsRoutes(parts: ToolsParts): Routes {
  const { clock, log, slug, attachments } = parts;
  const respond = ({ status, body, headers }: Written): Response => {
    const always = { "cache-control": "no-store", "x-request-id": newRequestId(clock.now()) };
    return jsonResponse(body, { status, headers: { ...always, ...headers } });
  };
  const router = new Router({ clock });
  const add = (path: string, handler: Handler, toAnswer: ErrorAnswer = errorAnswer): void => {
    const handle = async ({ request }: RouteContext): Promise<Response> => {
      const answer = await handler(await authenticate(request, parts));
      if (!(answer instanceof Response)) return respond(answer);
      answer.headers.set("x-content-type-options", "nosniff");
      return answer;
    };
    router.add({ path, methods: ["POST"], handle, writeError: (error) => respond(toAnswer(error, log)) });
  };
  for (const operation of operations) add(`${toolsPrefix}/${fullName(slug, operation)}`, callOf(operation, parts));
  if (attachments !== null) add(attachmentsPath, (call) => takeAttachment(call, { ...parts, attachments }));
  add(mcpPath, mcpHandler(parts), mcpErrorAnswer);
  const unknownPath = async ({ request }: RouteContext): Promise<Response> => {
    await drainRequest(request, clock);
    return respond(failure(404, `There is no operation ${requestTarget(request).path}: /openapi.json names all`));
  };
  const unknownPaths = [toolsPrefix, `${toolsPrefix}/*`, ...(attachments === null ? [attachmentsPath] : [])];
  for (const path of unknownPaths)
    router.add({ path, handle: unknownPath, writeError: (error) => respond(errorAnswer(error, log)) });
  return router.app;
}

function callOf(operation: Operation, parts: ToolsParts): Handler {
  return async (call) => {
    const { fields, ...read } = await readInput(call, operation, parts);
    const { request, caller } = call;
    return runOperation(
      { operation, input: fields, caller, isForMcp: false, attachment: request.headers.get(attachmentHeader), ...read },
      parts,
    );
  };
}
