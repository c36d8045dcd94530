/** MCP over HTTP: stateless, so that any gateway answers any request. */
import { createMcpHandler, localhostAllowedOrigins, originValidationResponse } from "@modelcontextprotocol/server";
import { scanJson } from "../inference/json-scan.ts";
import { callJsonValuesMax } from "../limits/constants.ts";
import { sbomCallBytesMax } from "../limits/tools.ts";
import { GatewayError } from "../kernel/errors.ts";
import type { Caller } from "../operations/caller.ts";
import { OperationError } from "../operations/operation-error.ts";
import type { TakenSbom } from "../sboms/take-sbom.ts";
import { failure } from "./envelope.ts";
import { mcpServer } from "./mcp-server.ts";
import type { ToolsParts } from "./parts.ts";
import { perform } from "./perform.ts";
import { readPieces } from "./read-input.ts";

/**
 * A page of another site in a browser names its origin, and is refused: it is not to act with what a person's machine can reach.
 * Programs name none.
 */
export function mcpDoor(parts: ToolsParts): (request: Request, caller: Caller) => Promise<Response> {
  const callers = new WeakMap<Request, { caller: Caller; sbom: TakenSbom | null }>();
  const handler = createMcpHandler(
    ({ requestInfo }) =>
      mcpServer(parts.slug, async (operation, input) => {
        const known = requestInfo && callers.get(requestInfo);
        return known ? perform({ operation, input, ...known, attachment: null }, parts) : failure(401, "Unauthorized");
      }),
    { onerror: (error) => parts.log.debug({ event: "mcp.refused", reason: error.message }) },
  );
  return async (request, caller) => {
    const foreign = originValidationResponse(request, localhostAllowedOrigins());
    if (foreign) return foreign;
    const { message, sbom } = await readMessage(request, parts);
    callers.set(request, { caller, sbom });
    return handler.fetch(request, { parsedBody: message });
  };
}

/** Where a call has the document that it brings. */
const sbomPath = ["params", "arguments", "sbom"];

/** Parsed here, for the SDK takes any depth and any number of values. */
async function readMessage(
  request: Request,
  { clock, sboms }: ToolsParts,
): Promise<{ message: unknown; sbom: TakenSbom | null }> {
  const pieces = await readPieces(request, clock, sbomCallBytesMax);
  const { taken, rest } = await sboms.take({ pieces, path: sbomPath });
  try {
    scanJson(rest, callJsonValuesMax);
    return { message: JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(rest)), sbom: taken };
  } catch (error) {
    if (error instanceof GatewayError) throw new OperationError(error.message);
    throw new OperationError("The body is not valid JSON in UTF-8: send one JSON-RPC message");
  }
}
