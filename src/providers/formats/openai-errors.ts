/**
 * What an error of a provider means for us. The body is judged before the status: several providers answer 400 where their
 * key or our account is at fault, and 429 where no waiting helps. Their text decides; it is never passed on.
 */
import { UpstreamFailure, type UpstreamCode } from "../provider.ts";
import { asArray, asObject, asText, parseJson } from "../json.ts";
import { contextHint, failureDetail, filterHint } from "./failure-words.ts";

/** An answer other than 200. */
export function classifyOpenaiError(status: number, body: string): UpstreamFailure {
  const value = parseJson(body);
  // Google's twin of this API wraps the object into a list; Cloudflare calls it `errors`.
  const outer = asObject(Array.isArray(value) ? value[0] : value);
  return judge(status, readError(outer?.["error"] ?? asArray(outer?.["errors"])[0] ?? outer ?? {}));
}

/** An `error` within an answer whose status was 200, whole or in the middle of a stream. */
export function failureIn(error: unknown): UpstreamFailure {
  const told = readError(error);
  const status = told.words.map(Number).find((number) => number >= 400 && number <= 599);
  const rejected = told.words.includes("invalid_request_error") ? 400 : 502;
  return judge(status ?? rejected, told);
}

interface ToldError {
  /** Codes, types, states and reasons, in lower case. */
  words: string[];
  message: string;
}

function readError(value: unknown): ToldError {
  const error = asObject(Array.isArray(value) ? value[0] : value);
  if (error === null) return { words: [], message: asText(value) ?? "" };
  const reasons = asArray(error["details"]).map((detail) => asObject(detail)?.["reason"]);
  const words = [error["code"], error["type"], error["status"], ...reasons]
    .filter((word) => typeof word === "string" || typeof word === "number")
    .map((word) => String(word).toLowerCase());
  return { words, message: asText(error["message"]) ?? asText(error["detail"]) ?? "" };
}

const accountWords = new Set([
  "insufficient_quota",
  "exceeded_current_quota_error",
  "insufficient_balance",
  "insufficient_credits",
  "billing_error",
  "billing_not_active",
  "billing_hard_limit_reached",
  "account_deactivated",
  "access_terminated",
  "invalid_api_key",
  "incorrect_api_key_error",
  "api_key_invalid",
  "invalid_authentication_error",
  "authentication_error",
  "unauthenticated",
  "permission_error",
  "permission_denied",
  "arrearage",
]);

const rateWords = new Set([
  "rate_limit_exceeded",
  "rate_limit_error",
  "rate_limit_reached_error",
  "rate_limited",
  "resource_exhausted",
  "too_many_requests",
  "throttling",
  "throttlingexception",
]);

const filterWords = new Set([
  "content_filter",
  "content_policy_violation",
  "data_inspection_failed",
  "responsibleaipolicyviolation",
]);

/** Cloudflare answers 400 with this code when the model behind it failed. */
const failedBehind = "2005";

/** Matched at the start alone: further on, a message may quote what the client sent. */
const accountMessage = new RegExp(
  "^(" +
    [
      "(the )?api[ _-]?key (is )?(not valid|invalid|expired|not found)",
      "(invalid|incorrect|missing|no) api[ _-]?key",
      "your credit balance is too low",
      "you have reached your specified .{0,20}usage limits",
      "you exceeded your current quota",
      "insufficient (account )?(balance|credits?|funds|quota)",
      "(your|this) account is (not active|deactivated|suspended|disabled)",
      "authentication (fails|failed|error)",
    ].join("|") +
    ")",
  "i",
);

const contextMessage =
  /maximum context length|context (window|length|limit)|prompt is too long|reduce the length of|token count .{0,60}exceeds|too many (input )?tokens/i;

function judge(status: number, told: ToldError): UpstreamFailure {
  const says = (words: ReadonlySet<string>): boolean => told.words.some((word) => words.has(word));
  const failure = (code: UpstreamCode, hint: string | null = null) =>
    new UpstreamFailure(code, failureDetail(status, told.words), hint);
  if (says(accountWords)) return failure("upstream_auth");
  // Larger than a whole minute's allowance (413 of Groq): waiting does not help.
  if (says(rateWords) && status !== 413) return failure("upstream_rate_limited");
  if (accountMessage.test(told.message)) return failure("upstream_auth");
  if (status === 401 || status === 402 || status === 403) return failure("upstream_auth");
  if (status === 429) return failure("upstream_rate_limited");
  if (told.words.includes(failedBehind)) return failure("upstream_error");
  if (status === 400 || status === 404 || status === 413 || status === 422) {
    return failure("upstream_rejected", hintFor(told, says(filterWords)));
  }
  if (told.words.includes("context_length_exceeded")) return failure("upstream_rejected", contextHint);
  return failure("upstream_error");
}

function hintFor(told: ToldError, filtered: boolean): string | null {
  if (told.words.includes("context_length_exceeded") || contextMessage.test(told.message)) return contextHint;
  return filtered ? filterHint : null;
}
