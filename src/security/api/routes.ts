/**
 * The tools API over HTTP: `POST /api/tools/<slug>_<operation>`, `/mcp`, and the path that receives attachments of an MCP server on the
 * same machine. Methods and paths are public, so a wrong one is answered before the key is checked. The body is read after that check.
 *
 * The tools key is in `Authorization`, bare or after `Bearer` or `ApiKey`. A call counts against its key before any query, and a key that
 * is missing, malformed, of another kind, unknown or revoked gets the same answer.
 */
import { DomainError } from "../../accounts/errors.ts";
import { admitToolsKey, givenToolsKey } from "../../accounts/keys/find.ts";
import type { ToolsKeyRow } from "../../accounts/keys/store.ts";
import { drainRequest } from "../../http/body.ts";
import { requestTarget, requireMethod, Router, type RouteContext, type Routes } from "../../http/router.ts";
import { newRequestId } from "../../kernel/ids.ts";
import { jsonResponse } from "../../kernel/json.ts";
import { attachmentBytesMax } from "../limits.ts";
import type { Operation, Caller, Scope } from "../operation.ts";
import type { AttachmentFolder } from "../tickets/attachment-folder.ts";
import { holderOf } from "./call-limits.ts";
import { failure, type CallAnswer, type Written, errorAnswer } from "./envelope.ts";
import { mcpErrorAnswer, mcpHandler, preflight, readableByPage, refuseForeign } from "./mcp-handler.ts";
import {
  fullName,
  operations,
  attachmentHeader,
  attachmentsPath,
  mcpPath,
  toolsPrefix,
  attachmentNameHeader,
} from "./operations.ts";
import { readInput, callBody, throttled } from "./read-input.ts";
import { type AuthenticatedCall, type ToolsParts, runOperation } from "./run-operation.ts";

type Handler = (call: AuthenticatedCall) => Promise<CallAnswer | Response>;

/** The routes, without any logic. */
export function toolsRoutes(parts: ToolsParts): Routes {
  const { clock, log, slug, attachments } = parts;
  const respond = ({ status, body, headers }: Written): Response => {
    const always = { "cache-control": "no-store", "x-request-id": newRequestId(clock.now()) };
    return jsonResponse(body, { status, headers: { ...always, ...headers } });
  };
  const router = new Router({ clock });
  const answerOf = async (request: Request, handler: Handler): Promise<Response> => {
    const answer = await handler(await authenticate(request, parts));
    if (!(answer instanceof Response)) return respond(answer);
    answer.headers.set("x-content-type-options", "nosniff");
    return answer;
  };
  const add = (path: string, handler: Handler): void => {
    const handle = ({ request }: RouteContext): Promise<Response> => answerOf(request, handler);
    router.add({ path, methods: ["POST"], handle, writeError: (error) => respond(errorAnswer(error, log)) });
  };
  for (const operation of operations) add(`${toolsPrefix}/${fullName(slug, operation)}`, callOf(operation, parts));
  if (attachments !== null) add(attachmentsPath, (call) => takeAttachment(call, { ...parts, attachments }));
  const mcp = mcpHandler(parts);
  router.add({
    path: mcpPath,
    async handle({ request }) {
      const foreign = refuseForeign(request, parts.mcpOrigins);
      if (foreign !== null) await drainRequest(request, clock);
      if (foreign !== null) return foreign;
      const asked = preflight(request);
      if (asked === null) requireMethod(request, ["POST"]);
      return readableByPage(request, asked ?? (await answerOf(request, mcp)));
    },
    writeError: (error, { request }) => readableByPage(request, respond(mcpErrorAnswer(error, log))),
  });
  const unknownPath = async ({ request }: RouteContext): Promise<Response> => {
    await drainRequest(request, clock);
    return respond(failure(404, `There is no operation ${requestTarget(request).path}: /openapi.json lists all`));
  };
  const unknownPaths = [toolsPrefix, `${toolsPrefix}/*`, ...(attachments === null ? [attachmentsPath] : [])];
  for (const path of unknownPaths)
    router.add({ path, handle: unknownPath, writeError: (error) => respond(errorAnswer(error, log)) });
  return router.app;
}

/**
 * Counts the call against its key. A key that has called too often is refused before any query.
 * @throws DomainError unauthorized for a key that is missing, malformed, of another kind, unknown or revoked, without the reason
 * @throws LimitReachedError
 */
async function authenticate(request: Request, parts: ToolsParts): Promise<AuthenticatedCall> {
  const key = givenToolsKey(request.headers.get("authorization"), parts.slug);
  const admitted = key === null ? null : await admitToolsKey(key, parts.limits, parts);
  if (admitted === null) throw unauthorized();
  return { request, caller: callerOf(admitted.row), charge: admitted.charge };
}

function unauthorized(): DomainError {
  return new DomainError("unauthorized", "Unauthorized");
}

function callerOf({ id, workspace, owner, role, scopeKind, scopeId }: ToolsKeyRow): Caller {
  const scope: Scope = scopeKind === "workspace" || scopeId === null ? { kind: "workspace" } : { kind: scopeKind, id: scopeId };
  return { key: id, workspace, actor: { kind: "member", email: owner, role, carriedBy: "tools key" }, scope };
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

/** The body is the file; the header `X-Attachment-Name` has its name, percent-encoded. */
async function takeAttachment(
  { request, caller }: AuthenticatedCall,
  { attachments, ...parts }: ToolsParts & { attachments: AttachmentFolder },
): Promise<CallAnswer> {
  const name = fileName(request.headers.get(attachmentNameHeader));
  await parts.disk.require();
  const { workspace, actor } = caller;
  using lease = parts.limits.documents.lease(holderOf(caller));
  const pieces = callBody(request, { ...throttled(parts), lease, bytesMax: attachmentBytesMax });
  const { id, sizeBytes } = await attachments.keep({ workspace, owner: actor.email, name, pieces }, parts);
  return {
    status: 200,
    body: { success: true, data: { id, name, size: sizeBytes }, message: "The file is kept for its ticket" },
  };
}

const nameCharactersMax = 255;

function fileName(header: string | null): string {
  const name = decoded(header ?? "");
  if (name === null || name === "" || name.length > nameCharactersMax || /[\p{Cc}/\\]/u.test(name) || /^\.\.?$/.test(name)) {
    throw new DomainError(
      "invalid_field",
      "The header X-Attachment-Name must be the name of a file, percent-encoded and without folders",
    );
  }
  return name;
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
