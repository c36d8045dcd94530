/** The error of every verb that cannot do a request. Each API maps it once to its own answer. */
import { bodyBytesPerSecondMin } from "../http/limits.ts";

/** The codes, with the HTTP status of the control API and the catalog. The tools API answers 401 for `unauthorized`, and 400 otherwise. */
export const errorStatuses = {
  invalid_field: 400,
  invalid_body: 400,
  unauthorized: 401,
  /** A session's sign-in is too old for the action, or an admin's lacks a second factor. */
  sign_in_again: 401,
  forbidden: 403,
  workspace_disabled: 403,
  not_found: 404,
  method_not_allowed: 405,
  body_too_slow: 408,
  conflict: 409,
  body_too_large: 413,
  limit_reached: 429,
  rate_limited: 429,
  internal_error: 500,
  unavailable: 503,
} as const;

export type ErrorCode = keyof typeof errorStatuses;

interface Details {
  /** The field of the request that is wrong. */
  field?: string | undefined;
  cause?: unknown;
}

export class DomainError extends Error {
  override name = "DomainError";
  readonly code: ErrorCode;
  readonly field: string | null;

  /** @param message states the cause and what to change, as a sentence without a period */
  constructor(code: ErrorCode, message: string, { field, cause }: Details = {}) {
    super(message, { cause });
    this.code = code;
    this.field = field ?? null;
  }
}

/** A body below the least rate; its sender would hold a place of others. @param what such as `form` */
export function bodyTooSlow(what: string): DomainError {
  return new DomainError(
    "body_too_slow",
    `The ${what} arrives too slowly: at least ${bodyBytesPerSecondMin} bytes a second are needed`,
  );
}
