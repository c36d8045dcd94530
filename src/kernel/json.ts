/**
 * JSON answers that no browser interprets as another type, and digests of JSON values. A digest does not depend on the order of fields: its
 * canonical form is that of RFC 8785.
 */
import { createHash } from "node:crypto";
import { byCodeUnits } from "./text.ts";

interface JsonResponseOptions {
  status?: number;
  headers?: Record<string, string>;
}

const noSniff = { "x-content-type-options": "nosniff" };
/** As `Response.json` writes it. */
const written = { "content-type": "application/json;charset=utf-8", ...noSniff };

/** A JSON body that no browser interprets as another type: https://fetch.spec.whatwg.org/#x-content-type-options-header */
export function jsonResponse(body: unknown, { status = 200, headers }: JsonResponseOptions = {}): Response {
  return Response.json(body, { status, headers: { ...noSniff, ...headers } });
}

/** The same for a body that is JSON already. */
export function jsonTextResponse(text: string, headers: Record<string, string>): Response {
  return new Response(text, { headers: { ...written, ...headers } });
}

/** SHA-256 in hexadecimal. @param value of JSON, of bounded depth */
export function digestOf(value: unknown): string {
  return createHash("sha256").update(canonicalJson(value)).digest("hex");
}

function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).toSorted(([one], [other]) => byCodeUnits(one, other));
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${canonicalJson(field)}`).join(",")}}`;
}
