/**
 * The errors with which verbs refuse a request. Each API maps them once to its own answer.
 *
 * `DomainError` has a code from a closed set, `LimitReachedError` the time to wait. Anything else is unexpected: it is logged with its
 * cause and answered without it. A lost database is answered as unavailable, since the same request may succeed later. Errors that several
 * nouns share (a slow body, a full quota) are worded here, all others at their noun.
 */
import { bodyBytesPerSecondMin } from "../http/limits.ts";
import { DeadlineError } from "../kernel/clock.ts";
import { errorCode } from "../kernel/error-code.ts";
import type { Logger } from "../kernel/log.ts";
import { quotaHourMs } from "./limits.ts";

/** The codes, with the HTTP status of the control API and the catalog. The tools API answers 401 to `unauthorized`, and 400 otherwise. */
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

/** The caller, its workspace or the whole process has reached a limit; the same request may succeed after a wait. */
export class LimitReachedError extends Error {
  override name = "LimitReachedError";
  /** 429: a limit of the caller or its workspace; 503: one that all callers share. */
  readonly status: 429 | 503;
  /** Milliseconds; at least 1. */
  readonly retryAfterMs: number;

  /** @param message a sentence that names the limit, without a period */
  constructor(message: string, { status, retryAfterMs }: { status: 429 | 503; retryAfterMs: number }) {
    super(message);
    this.status = status;
    this.retryAfterMs = Math.max(1, Math.ceil(retryAfterMs));
  }
}

/** The header `Retry-After`: whole seconds, rounded up. */
export function retryAfterHeader({ retryAfterMs }: LimitReachedError): Record<string, string> {
  return { "retry-after": String(Math.ceil(retryAfterMs / 1_000)) };
}

/** A body below the minimum rate; its sender would hold a place that others need. @param what such as `form` */
export function bodyTooSlow(what: string): DomainError {
  return new DomainError(
    "body_too_slow",
    `The ${what} arrives too slowly: at least ${bodyBytesPerSecondMin} bytes a second are needed`,
  );
}

interface Quota {
  /** Such as `projects`. */
  what: string;
  max: number;
  /** The constant that bounds it. */
  limit: string;
}

/** A full quota that waiting does not free. @param field the field of the request that needs more */
export function quotaFull({ what, max, limit }: Quota, field?: string): DomainError {
  const message = `This workspace has as many ${what} as it can have: ${max} (${limit})`;
  return new DomainError("conflict", message, { field });
}

/** A full hourly quota. @param oldest the time of the item that must first be an hour old */
export function quotaOfHourFull({ what, max, limit }: Quota, { oldest, now }: { oldest: Date; now: number }): LimitReachedError {
  const message = `This workspace has made ${max} ${what} within the last hour, and cannot make more (${limit}): try again later`;
  return new LimitReachedError(message, { status: 429, retryAfterMs: oldest.getTime() + quotaHourMs - now });
}

/** Logs an error that is no DomainError. @returns the error for the answer: unavailable, or internal_error without the cause */
export function unexpectedError(error: unknown, { log, event }: { log: Logger; event: string }): DomainError {
  const cause = error instanceof Error ? error : new Error(String(error));
  const code = errorCode(cause);
  log.error({ event, name: cause.name, code, stack: cause.stack }, "A request failed unexpectedly");
  if (!(error instanceof DeadlineError || transient.test(code))) {
    return new DomainError("internal_error", "An unexpected error occurred");
  }
  const message = "The database did not answer; whether a change was made is not known, so look before trying again";
  return new DomainError("unavailable", message);
}

/**
 * Lost or refused connections, statements that PostgreSQL cancelled, and a standby in place of the primary: the same request may succeed
 * later.
 */
const transient = /^(CONNECT|ECONN|08|25006|57014|57P0|55P03|40001|40P01|53)/;
