/** Parses the bytes of a body as a JSON object. */
import { isJsonObject, type JsonObject } from "./json-object.ts";
import { scanJson } from "./json-scan.ts";
import { invalidRequest } from "./bad-request.ts";

const decoder = new TextDecoder("utf-8", { fatal: true });

/**
 * Of a repeated key the last value counts, as everywhere in JavaScript. A client cannot use that to hide a value: this one parse is
 * checked and priced, and providers get it written anew, never the client's bytes.
 * @throws GatewayError invalid_request for bytes that are not UTF-8, not JSON, too deep or no object, or have too many fields or values
 */
export function parseJsonObject(bytes: Uint8Array, valuesMax?: number): JsonObject {
  scanJson(bytes, valuesMax === undefined ? {} : { valuesMax });
  const body = parse(decode(bytes));
  if (!isJsonObject(body)) throw invalidRequest(undefined, "The request body must be a JSON object");
  return body;
}

function decode(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw invalidRequest(undefined, "The request body is not valid UTF-8");
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalidRequest(undefined, "The request body is not valid JSON");
  }
}
