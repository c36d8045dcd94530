/** The fields of a call: the JSON object in its body. */
import { BodyReader, joined } from "../inference/body-reader.ts";
import { parseJsonObject } from "../inference/json-body.ts";
import { readRest } from "../inference/read-rest.ts";
import { withDeadline, type Clock } from "../kernel/clock.ts";
import { GatewayError } from "../kernel/errors.ts";
import { callJsonValuesMax } from "../limits/constants.ts";
import { sbomCallBytesMax, toolsBodyBytesMax, toolsBodyMs } from "../limits/tools.ts";
import { OperationError } from "../operations/operation-error.ts";
import type { Operation } from "../operations/operation.ts";
import type { TakenSbom } from "../sboms/take-sbom.ts";
import type { ToolsParts } from "./parts.ts";

export interface Input {
  fields: Record<string, unknown>;
  /** Of an operation that takes one. */
  sbom: TakenSbom | null;
}

/**
 * @throws OperationError that says what to change: content type, no body, no JSON, no object, too large or too deep
 * @throws what SbomReader.take throws
 */
export async function readInput(request: Request, { takesSbom }: Operation, { clock, sboms }: ToolsParts): Promise<Input> {
  requireJson(request);
  const pieces = await readPieces(request, clock, takesSbom ? sbomCallBytesMax : toolsBodyBytesMax);
  if (pieces.length === 0) throw new OperationError("The body is missing: send a JSON object, {} where no field is required");
  const { taken, rest } = takesSbom ? await sboms.take({ pieces, path: ["sbom"] }) : { taken: null, rest: joined(pieces) };
  return { fields: fieldsOf(rest), sbom: taken };
}

function requireJson(request: Request): void {
  const type = request.headers.get("content-type");
  if (mediaType(type) !== "application/json") {
    const sent = type === null ? "is missing" : `is "${type.slice(0, 100)}"`;
    throw new OperationError(`The header Content-Type ${sent}: send application/json`);
  }
}

function fieldsOf(bytes: Uint8Array): Record<string, unknown> {
  try {
    return parseJsonObject(bytes, callJsonValuesMax);
  } catch (error) {
    if (error instanceof GatewayError) throw new OperationError(`${error.message}: send the fields as one JSON object`);
    throw error;
  }
}

/** The body in the pieces in which it came, none of them empty. @throws OperationError when there is more, or not all of it in time */
export async function readPieces(request: Request, clock: Clock, bytesMax: number): Promise<Uint8Array[]> {
  const encoding = request.headers.get("content-encoding") ?? "identity";
  if (encoding.toLowerCase() !== "identity") throw new OperationError("The body is compressed: send it as it is");
  if (request.body === null) return [];
  const reader = new BodyReader(request.body);
  const reading = withDeadline(clock, toolsBodyMs, "The request body", reader.piecesUpTo(bytesMax));
  const pieces = await reading.catch(() => {
    reader.discard();
    throw new OperationError("The body did not arrive in full and in time: send it again");
  });
  if (pieces !== null) return pieces;
  await readRest(request, clock, reader);
  throw new OperationError(`The body is too large: send at most ${bytesMax} bytes`);
}

/** Without parameters such as `charset`: JSON is UTF-8 whatever they say (RFC 8259, 8.1). */
function mediaType(header: string | null): string {
  return (header ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}
