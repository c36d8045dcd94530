/**
 * What the formats share in handling an error: our code for a status, weighed against the body's words; hints that need none of the
 * provider's text; and the error in a refusal, or in a document whose status is 200, in any of the shapes that servers use. Our log
 * contains the documented words of vendors and nothing else of an error.
 */
import { type CauseHint, UpstreamFailure, type ProviderEvent, type UpstreamCode } from "../provider.ts";
import { asArray, asObject, asText, type JsonObject } from "./json.ts";

const codeByStatus = new Map<number, UpstreamCode>([
  [400, "upstream_rejected"],
  [401, "upstream_auth"],
  [402, "upstream_auth"],
  [403, "upstream_auth"],
  [404, "upstream_rejected"],
  [413, "upstream_rejected"],
  [422, "upstream_rejected"],
  [429, "upstream_rate_limited"],
]);

export function codeOfStatus(status: number): UpstreamCode {
  return codeByStatus.get(status) ?? "upstream_error";
}

/**
 * If the status says that our key or credit is at fault, the body can only change that to a rate limit.
 * @param byBody the code that the body's words mean; undefined: none
 */
export function weighed(status: number, byBody: UpstreamCode | undefined): UpstreamCode {
  const byStatus = codeOfStatus(status);
  if (byStatus === "upstream_auth") return byBody === "upstream_rate_limited" ? byBody : byStatus;
  return byBody ?? byStatus;
}

/** SDKs and agents recognize an overlong conversation by "maximum context length". */
export const contextHint: CauseHint = {
  hintedCause: "too_long",
  hint: "The request is longer than the model's maximum context length; shorten it, or set a lower max_tokens",
};
export const effortHint: CauseHint = {
  hintedCause: "reasoning_effort",
  hint: "The model does not support this reasoning_effort, or max_tokens is too low for it",
};
export const filterHint: CauseHint = {
  hintedCause: "content_policy",
  hint: "The provider's content filter refused the request",
};

/** The status and the documented words of the provider's error: enough for our log, without anyone else's text. */
export function failureDetail(status: number, words: readonly string[]): string {
  const names = words.filter(isErrorName);
  return names.length === 0 ? `status ${status}` : `status ${status}: ${names.join(", ")}`;
}

/** The failure of a stream that breaks its format. @param detail for our log */
export function broken(detail: string): ProviderEvent {
  return { kind: "failure", failure: new UpstreamFailure("upstream_error", detail) };
}

/**
 * Finds the error in a document with status 200. Call it only for one with the field `error`, or without any part of an answer.
 * @param value a body or the data of an event; only the first item of a list is read
 * @param options.begun a stream has brought content: then a message is an error only if a status or a word next to it says so
 * @returns the error, with its text in `message` and its code in `code` if it has them; null: there is none
 */
export function toldFailure(value: unknown, { begun = false }: { begun?: boolean } = {}): JsonObject | null {
  const outer = firstObject(value);
  if (outer === null) return null;
  const inner = errorWithin(outer);
  if (inner !== null) return inner;
  if (outer["object"] === "error" || outer["type"] === "error") return named(outer);
  return apart(named(outer), begun) ?? minimaxFailure(outer["base_resp"]);
}

/**
 * The error in the body of a refusal, in any of the shapes that servers use: with its text in `message` and its code in `code`.
 * @param value parsed; anything
 */
export function errorOf(value: unknown): JsonObject {
  const outer = firstObject(value);
  return outer === null ? {} : (errorWithin(outer) ?? named(outer));
}

/** The error in a field of a document. Cloudflare names it `errors`, FastAPI `detail`; each may be an object, a list of objects, or a text. */
function errorWithin(outer: JsonObject): JsonObject | null {
  const inner = outer["error"] || asArray(outer["errors"])[0] || outer["detail"];
  if (!inner) return null;
  return named(firstObject(inner) ?? { ...outer, message: asText(inner) ?? outer["message"] });
}

/**
 * The codes, types, states and reasons that vendors document for their errors. Our log contains only these: any other value in
 * such a field may be anything, including a client's text.
 */
const errorNames: ReadonlySet<string> = new Set(
  `
  aborted access_terminated access_token_type_unsupported account_deactivated api_error api_key_invalid
  api_key_ip_address_blocked api_key_service_blocked array_above_max_length arrearage authentication_error bad_request
  badrequest badrequesterror billing_disabled billing_error billing_hard_limit_reached billing_not_active cancelled
  capacity_exceeded consumer_invalid consumer_suspended content_filter content_policy_violation
  context_length_exceeded credentials_missing credit_limit data_inspection_failed deadline_exceeded deploymentnotfound
  engine_overloaded_error exceeded_current_quota_error extra_forbidden failed_precondition forbidden
  incorrect_api_key_error incorrect_hostname insufficient_balance insufficient_credits insufficient_quota internal internal_error
  internal_server_error internalservererror invalid_api_key invalid_argument invalid_authentication_error
  invalid_model invalid_parameter_error invalid_prompt invalid_request invalid_request_body invalid_request_error
  invalid_type invalid_value ip_not_authorized json_validate_failed limit_requests missing_required_parameter
  model_capacity_exhausted model_decommissioned model_not_available model_not_found model_not_supported
  model_rate_limit not_enough_balance not_found not_found_error notfounderror out_of_range overloaded_error
  permission_denied permission_error precondition_failed queue_exceeded rate_limit_error rate_limit_exceeded
  rate_limit_reached_error rate_limited ratelimitreached request_forbidden request_quota_exceeded
  request_rate_limit_exceeded request_too_large requests resource_exhausted resource_not_found_error
  responsibleaipolicyviolation server_error server_is_overloaded server_overloaded service_disabled
  service_not_available service_tier_capacity_exceeded service_unavailable service_unavailable_error
  string_above_max_length throttling throttlingexception timeout_error token_quota_exceeded tokens
  tokens_limit_reached too_many_requests too_many_requests_error tool_use_failed unauthenticated unavailable
  unimplemented unknown unknown_error unknown_parameter unreachable_backend unsupported_country_region_territory
  unsupported_model unsupported_parameter unsupported_value wrong_api_key
`
    .trim()
    .split(/\s+/),
);

/** Vendors' error numbers have at most five digits. */
function isErrorName(word: string): boolean {
  return errorNames.has(word) || /^\d{1,5}$/.test(word);
}

function firstObject(value: unknown): JsonObject | null {
  return asObject(Array.isArray(value) ? value[0] : value);
}

/** With the names of chat completions in place of those of other servers. */
function named(error: JsonObject): JsonObject {
  const { msg, error_msg, detail, error: inner } = error;
  const message = [error["message"], msg, error_msg, detail, inner].map(asText).find((text) => text !== null) ?? null;
  const code = error["code"] ?? error["error_code"] ?? error["status_code"];
  return { ...error, ...(message !== null && { message }), ...(code !== undefined && { code }) };
}

/** Codes that accompany the message of a success. */
const successes: ReadonlySet<unknown> = new Set([0, 200, "0", "200", "ok", "success"]);

const errorWord =
  /error|exception|fail|invalid|denied|exceed|exhaust|limit|overload|unavailable|time_?d?_?out|unauthori|forbidden|not_?found/i;

/** A message with a code or the type of an error is an error without a wrapper; null if it is something else, such as a notice. */
function apart(error: JsonObject, begun: boolean): JsonObject | null {
  const { message, code, status, type } = error;
  const errorType = /error|exception/i.test(asText(type) ?? "") ? type : null;
  if (!asText(message) || successes.has(code ?? status ?? errorType)) return null;
  const words = [code, status, errorType].filter((word) => typeof word === "number" || (typeof word === "string" && word !== ""));
  if (words.some((word) => Number(word) >= 400 || errorWord.test(String(word)))) return error;
  return words.length === 0 || begun || words.some(tellsProgress) ? null : error;
}

/** States that accompany the message of work in progress. */
const progress = /^(accepted|in[_ ]?progress|loading|pending|processing|queued|running|started|starting|waiting)$/i;

function tellsProgress(word: unknown): boolean {
  const status = Number(word);
  return (status >= 100 && status < 400) || progress.test(String(word));
}

/** MiniMax reports failures next to the fields of an answer, which are then null; 0 means none. */
function minimaxFailure(value: unknown): JsonObject | null {
  const { status_code: code, status_msg: message } = asObject(value) ?? {};
  return typeof code === "number" && code !== 0 ? { code, message } : null;
}
