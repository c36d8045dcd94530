/**
 * The inference API's error table: the only place with each code's status, type, retry and message. Tested against
 * docs/reference/errors.md. A `GatewayError` may be thrown anywhere. It is written in one place, in the specification's form, and never
 * contains a provider's text. What it repeats of the request is marked (`asSent`), so that an error can be kept without it.
 */
import { jsonResponse } from "./json.ts";

export type ErrorType =
  "invalid_request_error" | "authentication_error" | "insufficient_quota" | "permission_error" | "rate_limit_error" | "api_error";

interface ErrorRow {
  status: number;
  type: ErrorType;
  /** The value of `x-should-retry`; absent if the official SDKs' rule by status is right. */
  shouldRetry?: boolean;
  message: string;
}

const typeByStatus: Record<number, ErrorType> = {
  400: "invalid_request_error",
  401: "authentication_error",
  402: "insufficient_quota",
  403: "permission_error",
  404: "invalid_request_error",
  409: "invalid_request_error",
  413: "invalid_request_error",
  422: "invalid_request_error",
  429: "rate_limit_error",
};

/** code → status, type, retry and default message. */
export const errorTable = {
  invalid_request: row(400, "The request is not valid"),
  unsupported_parameter: row(400, "The request uses a parameter that is not supported"),
  upstream_rejected: row(400, "The provider rejected the request; change it before trying again"),
  invalid_api_key: row(
    401,
    "The API key is invalid, revoked or expired. Keys start with {prefix} and are sent as a Bearer token",
  ),
  insufficient_credit: row(
    402,
    "There is not enough credit for the maximum cost of this request; add credit or lower max_tokens",
  ),
  key_spend_limit_exceeded: row(402, "The request would pass this key's monthly spend limit"),
  account_spend_limit_exceeded: row(402, "The request would pass the workspace's monthly spend limit"),
  gateway_disabled: row(403, "The inference API is not enabled for this account"),
  model_not_found: row(404, "There is no model with the id"),
  idempotency_in_progress: row(409, "A request with this Idempotency-Key is running or not booked yet; try again shortly", true),
  idempotency_spent: row(
    409,
    "A request with this Idempotency-Key was answered or charged already, so it does not run again; X-Generation-Id names it",
    false,
  ),
  request_too_large: row(413, "The request body is larger than 8 MiB"),
  idempotency_mismatch: row(422, "This Idempotency-Key was used with another body; a new request needs a new key"),
  rate_limited: row(429, "Too many requests for this key", true),
  upstream_rate_limited: row(429, "The provider is rate limiting; try again after the time in Retry-After", true),
  internal_error: row(500, "An unexpected error occurred", true),
  upstream_error: row(502, "The provider failed, was unreachable or broke off its answer", true),
  upstream_auth: row(502, "The provider refused the service's own credentials", false),
  model_unavailable: row(503, "The model cannot be called at present", false),
  auth_unavailable: row(503, "API keys cannot be checked at present; try again shortly", true),
  billing_unavailable: row(503, "Credit cannot be checked at present; try again shortly", true),
  upstream_timeout: row(504, "The provider did not answer in time", true),
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof errorTable;

/** The errors that can end an accepted request. All others refuse a request, which then has no row in the log. */
export const endingErrorCodes = [
  "upstream_rejected",
  "upstream_rate_limited",
  "internal_error",
  "upstream_error",
  "upstream_auth",
  "model_unavailable",
  "billing_unavailable",
  "upstream_timeout",
] as const satisfies readonly ErrorCode[];
export type EndingErrorCode = (typeof endingErrorCodes)[number];

/** The codes in the log: those errors, and one for a client that disconnected. */
export const endingCodes = [...endingErrorCodes, "client_gone"] as const;
export type EndingCode = (typeof endingCodes)[number];

/** The codes of calls that were refused, which the log lacks: the client got an error, and no provider was called. */
export const refusingCodes = (Object.keys(errorTable) as ErrorCode[]).filter((code) => !code.startsWith("upstream_"));

/** Around a text of the request, from Unicode's private use: no message of ours has them. */
const [sentBegins, sentEnds] = ["\uE000", "\uE001"] as const;
const marks = /[\uE000\uE001]/g;
const sentTexts = /\uE000[^\uE000\uE001]*\uE001/g;

/** Marks a text of the request within a message or a `param`. The client gets it back; what is kept of the error has `…` in its place. */
export function asSent(text: string): string {
  return `${sentBegins}${text.replaceAll(marks, "")}${sentEnds}`;
}

interface GatewayErrorOptions {
  /** The offending field, such as `model` or `messages[0].content`. */
  param?: string | undefined;
  /** Replaces the table's message; never a provider's text. */
  message?: string | undefined;
  /** The id of the request's model, which the catalog has. */
  model?: string | undefined;
  /** Additional headers of the answer. */
  headers?: Record<string, string> | undefined;
  /** Replaces the table's `x-should-retry`. */
  shouldRetry?: boolean | undefined;
  /** What a program may act on, besides the message. Only shapes that have a place for it write it. */
  details?: Readonly<Record<string, unknown>> | undefined;
  cause?: unknown;
}

/** UTF-16 units of a message, and of a `param`, that are stored. */
export const [keptMessageMax, keptParamMax] = [500, 200];

function cut(text: string, max: number): string {
  return text.slice(0, max).toWellFormed();
}

/** An error answer of the inference API; thrown anywhere, written only by an `ErrorShape`. */
export class GatewayError<Code extends ErrorCode = ErrorCode> extends Error {
  override name = "GatewayError";
  readonly code: Code;
  readonly status: number;
  readonly type: ErrorType;
  readonly param: string | null;
  readonly headers: Record<string, string>;
  readonly details: Readonly<Record<string, unknown>> | null;
  /** Message and `param` with the marks of `asSent`, for an error that is made from this one. */
  readonly marked: { message: string; param: string | null };
  /** The id of the request's model, if the catalog has it and it was known by then. */
  model: string | null;

  constructor(code: Code, options: GatewayErrorOptions = {}) {
    const entry: ErrorRow = errorTable[code];
    const message = options.message ?? entry.message;
    super(message.replaceAll(marks, ""), { cause: options.cause });
    this.code = code;
    this.status = entry.status;
    this.type = entry.type;
    this.marked = { message, param: options.param ?? null };
    this.param = options.param?.replaceAll(marks, "") ?? null;
    this.model = options.model ?? null;
    this.details = options.details ?? null;
    const shouldRetry = options.shouldRetry ?? entry.shouldRetry;
    this.headers = { ...(shouldRetry === undefined ? {} : { "x-should-retry": String(shouldRetry) }), ...options.headers };
  }

  /** Message and `param` without what they repeat of the request, and cut to what is stored. */
  get kept(): { message: string; param: string | null } {
    const [message = "", param = null] = [this.marked.message, this.marked.param].map((text) => text?.replaceAll(sentTexts, "…"));
    return { message: cut(message, keptMessageMax), param: param && cut(param, keptParamMax) };
  }
}

/** The body `{error: {message, type, code, param}}` of the specification. */
export function errorBody(error: GatewayError): {
  error: { message: string; type: ErrorType; code: ErrorCode; param: string | null };
} {
  return { error: { message: error.message, type: error.type, code: error.code, param: error.param } };
}

/** Writes an error as an HTTP answer; `headers` are those known for the request by then (ids, rate window). */
export function errorResponse(error: GatewayError, headers: Record<string, string> = {}): Response {
  return jsonResponse(errorBody(error), { status: error.status, headers: { ...headers, ...error.headers } });
}

/** How the API of an endpoint writes an error. */
export interface ErrorShape {
  /**
   * @param headers those that the request has by then (ids, rate window)
   * @param request the id of an accepted request; null: it was refused
   */
  response(error: GatewayError, headers: Record<string, string>, request: string | null): Response;
}

/** The shape of chat completions, and of every endpoint without its own. */
export const chatErrors: ErrorShape = { response: (error, headers) => errorResponse(error, headers) };

/** A value of the wrong type, out of its range, or in conflict with another one. */
export function invalidRequest(param: string | undefined, message: string): GatewayError {
  return new GatewayError("invalid_request", { param, message });
}

/** A field or value that is legal in the official format but not supported here. */
export function unsupportedParameter(param: string, message: string): GatewayError {
  return new GatewayError("unsupported_parameter", { param, message });
}

function row(status: number, message: string, shouldRetry?: boolean): ErrorRow {
  const type = typeByStatus[status] ?? "api_error";
  return shouldRetry === undefined ? { status, type, message } : { status, type, message, shouldRetry };
}
