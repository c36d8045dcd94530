/**
 * The error answer of the catalog's paths: a sentence under `detail`, as on all paths without a key. An error without a code counts as a
 * failure of the database.
 */
import { Type } from "@sinclair/typebox";
import { DomainError, errorStatuses, type ErrorCode, LimitReachedError, retryAfterHeader } from "../../accounts/errors.ts";
import { MethodNotAllowedError } from "../../http/router.ts";
import { jsonResponse } from "../../kernel/json.ts";
import type { Logger } from "../../kernel/log.ts";

export const RefusalBody = Type.Object({
  detail: Type.String({ description: "What went wrong, as a sentence for people" }),
});

/** The codes that these paths answer with. */
type CatalogCode = "invalid_field" | "not_found" | "unavailable";

export interface CatalogRefusal {
  status: (typeof errorStatuses)[CatalogCode] | 405;
  message: string;
  headers: Record<string, string>;
}

const headersOf: Record<CatalogCode, Record<string, string>> = {
  invalid_field: {},
  not_found: {},
  unavailable: { "retry-after": "5" },
};

export function refusalOf(error: unknown, log: Logger): CatalogRefusal {
  if (error instanceof MethodNotAllowedError)
    return { status: 405, message: "Method Not Allowed", headers: { ...error.headers } };
  if (error instanceof LimitReachedError) return { status: 503, message: error.message, headers: retryAfterHeader(error) };
  if (error instanceof DomainError && isCatalogCode(error.code)) {
    return { status: errorStatuses[error.code], message: error.message, headers: headersOf[error.code] };
  }
  log.warn({ event: "connectors.failed", reason: String(error) }, "The database did not answer for the connector catalog");
  const message = "The catalog cannot be read at present: try again shortly";
  return { status: errorStatuses.unavailable, message, headers: headersOf.unavailable };
}

export function refusalResponse({ status, message, headers }: CatalogRefusal): Response {
  return jsonResponse({ detail: message }, { status, headers: { "cache-control": "no-store", ...headers } });
}

function isCatalogCode(code: ErrorCode): code is CatalogCode {
  return Object.hasOwn(headersOf, code);
}
