/** Reads the fields of a request: the query of a GET or DELETE, the JSON object in the body of any other method. */
import type { Clock } from "../kernel/clock.ts";
import { requestTarget } from "../http/router.ts";
import { type BodyErrors, joined } from "../http/body.ts";
import { isJsonObject, scanJson } from "../http/json.ts";
import { GatewayError } from "../kernel/errors.ts";
import { controlBodyBytesMax, controlDeadlineMs, controlFileMs } from "./limits.ts";
import { callJsonValuesMax } from "../http/limits.ts";
import { bodyTooSlow, DomainError } from "../accounts/errors.ts";
import type { Endpoint } from "./endpoint.ts";

/** Whether the request brings a body that the control API reads. */
export function bringsBody({ method }: Request, { completes }: Pick<Endpoint, "completes">): boolean {
  return method !== "GET" && method !== "DELETE" && !completes;
}

/** @param pieces of the body @throws DomainError invalid_body, invalid_field for a parameter given twice */
export async function readFields(
  { request, pieces }: { request: Request; pieces: readonly Uint8Array[] },
  endpoint: Pick<Endpoint, "file" | "completes" | "bodyBytesMax" | "readInSubprocess">,
  clock: Clock,
): Promise<Record<string, unknown>> {
  if (!bringsBody(request, endpoint) || endpoint.file !== null) return readQuery(request);
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  if (endpoint.readInSubprocess !== null && length > endpoint.readInSubprocess.fromBytes)
    return endpoint.readInSubprocess.read(pieces, clock);
  const bytes = joined(pieces);
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

const bodyErrors: BodyErrors = {
  encoded: () => invalidBody("The body must not be compressed"),
  incomplete: () => invalidBody("The body did not arrive in full and in time"),
  tooSlow: () => bodyTooSlow("body"),
  tooLarge: (bytesMax) => new DomainError("body_too_large", `The body is larger than ${bytesMax} bytes`),
};

/** What a body of the endpoint may be. */
export function bodyBounds({ bodyBytesMax: bytesMax }: Pick<Endpoint, "bodyBytesMax">) {
  return { bytesMax, withinMs: bytesMax > controlBodyBytesMax ? controlFileMs : controlDeadlineMs, errors: bodyErrors };
}

/** Each record is checked by itself; a refused one does not affect the others. */
const boundedOneByOne = { valuesMax: Infinity, depthMax: Infinity };

/** @param bringsRecords the body holds records, which have bounds of their own */
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
