/** The fields of a call: the JSON object in its body. */
import { BodyReader } from "../inference/body-reader.ts";
import { parseJsonObject } from "../inference/json-body.ts";
import { readRest } from "../inference/read-rest.ts";
import { withDeadline, type Clock } from "../kernel/clock.ts";
import { GatewayError } from "../kernel/errors.ts";
import { toolsBodyBytesMax, toolsBodyMs } from "../limits/tools.ts";
import { OperationError } from "../operations/operation-error.ts";

/** @throws OperationError that says what to change: content type, no body, no JSON, no object, too large or too deep */
export async function readInput(request: Request, clock: Clock): Promise<Record<string, unknown>> {
  const type = request.headers.get("content-type");
  if (mediaType(type) !== "application/json") {
    const sent = type === null ? "is missing" : `is "${type.slice(0, 100)}"`;
    throw new OperationError(`The header Content-Type ${sent}: send application/json`);
  }
  const bytes = await readBytes(request, clock);
  if (bytes.length === 0) throw new OperationError("The body is missing: send a JSON object, {} where no field is required");
  try {
    return parseJsonObject(bytes);
  } catch (error) {
    if (error instanceof GatewayError) throw new OperationError(`${error.message}: send the fields as one JSON object`);
    throw error;
  }
}

/** At most 50 MiB. @throws OperationError when there is more, or not all of it in time */
export async function readBytes(request: Request, clock: Clock, bytesMax = toolsBodyBytesMax): Promise<Uint8Array> {
  const encoding = request.headers.get("content-encoding") ?? "identity";
  if (encoding.toLowerCase() !== "identity") throw new OperationError("The body is compressed: send it as it is");
  if (request.body === null) return new Uint8Array();
  const reader = new BodyReader(request.body);
  const reading = withDeadline(clock, toolsBodyMs, "The request body", reader.readUpTo(bytesMax));
  const bytes = await reading.catch(() => {
    reader.discard();
    throw new OperationError("The body did not arrive in full and in time: send it again");
  });
  if (bytes !== null) return bytes;
  await readRest(request, clock, reader);
  throw new OperationError(`The body is too large: send at most ${bytesMax} bytes`);
}

/** Without parameters such as `charset`: JSON is UTF-8 whatever they say (RFC 8259, 8.1). */
function mediaType(header: string | null): string {
  return (header ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}
