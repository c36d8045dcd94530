/** The bytes of a body to a JSON object. */
import { isJsonObject, type JsonObject } from "./json-object.ts";
import { scanJson } from "./json-scan.ts";
import { invalidRequest } from "./bad-request.ts";

const decoder = new TextDecoder("utf-8", { fatal: true });

/**
 * Where a key occurs twice the last one stands, as everywhere in JavaScript. Nothing can be smuggled by that: what is
 * checked, priced and sent to a provider is this one parse, written anew, never the client's bytes.
 * @throws GatewayError invalid_request when the bytes are not UTF-8, not JSON, too deep, too many fields or values, or no object
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
