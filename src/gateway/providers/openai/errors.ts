/**
 * Classifies a provider's errors. The body decides before the status: several providers answer 400 when their key or our account is at
 * fault, and 429 when waiting does not help. The text is only matched, never passed on. The words are those with which vendors of this API
 * tell failures apart: codes, types, states and reasons in lower case, or the shortest phrase of their text. Each has a case under its
 * vendor in test/fixtures/openai/errors.json.
 */
import { UpstreamFailure, type CauseHint, type UpstreamCode } from "../provider.ts";
import { withCause } from "../rejection.ts";
import { contextHint, errorOf, failureDetail, filterHint, codeOfStatus } from "../wire/errors.ts";
import { asArray, asObject, asText, parseJson, type JsonObject } from "../wire/json.ts";

/** Classifies a response whose status is not 200. */
export function classifyOpenaiError(status: number, body: string): UpstreamFailure {
  return withCause(judge(status, readError(errorOf(parseJson(body)))), body, status);
}

/** Classifies an `error` in a response with status 200, whole or within a stream. */
export function failureIn(error: unknown): UpstreamFailure {
  const read = readError(errorOf({ error }));
  const status = read.words.map(Number).find((number) => number >= 400 && number <= 599);
  const rejected = read.words.includes("invalid_request_error") ? 400 : 502;
  return withCause(judge(status ?? rejected, read), error);
}

interface ProviderError {
  /** Codes, types, states and reasons, in lower case. */
  words: string[];
  message: string;
}

function readError({ message, code, type, status, reason, details, metadata }: JsonObject): ProviderError {
  const reasons = asArray(details).map((detail) => asObject(detail)?.["reason"]);
  // The moderation reasons that OpenRouter lists when it refuses a prompt with 403.
  const moderated = asArray(asObject(metadata)?.["reasons"]).length > 0 ? ["content_filter"] : [];
  const words = [code, type, status, reason, ...reasons, ...moderated]
    .filter((word) => typeof word === "string" || typeof word === "number")
    .map((word) => String(word).toLowerCase());
  return { words, message: asText(message) ?? "" };
}

function judge(status: number, error: ProviderError): UpstreamFailure {
  const hasWord = (words: ReadonlySet<string>): boolean => error.words.some((word) => words.has(word));
  const failure = (code: UpstreamCode, hint: CauseHint | null = null) =>
    new UpstreamFailure(code, failureDetail(status, error.words), hint);
  if (hasWord(accountWords)) return failure("upstream_auth");
  // The request exceeds a whole minute's allowance (Groq's 413): waiting does not help.
  if (hasWord(rateWords) && status !== 413) return failure("upstream_rate_limited");
  if (accountMessage.test(error.message)) return failure("upstream_auth");
  if (status === 403 && hasWord(filterWords)) return failure("upstream_rejected", filterHint);
  const byStatus = codeOfStatus(status);
  if (byStatus === "upstream_auth" || byStatus === "upstream_rate_limited") return failure(byStatus);
  if (hasWord(failedModelWords)) return failure("upstream_error");
  if (byStatus === "upstream_rejected") return failure(byStatus, hintFor(error, hasWord(filterWords)));
  if (error.words.includes("context_length_exceeded")) return failure("upstream_rejected", contextHint);
  return failure(byStatus);
}

function hintFor(error: ProviderError, filtered: boolean): CauseHint | null {
  if (error.words.includes("context_length_exceeded") || contextMessage.test(error.message)) return contextHint;
  return filtered ? filterHint : null;
}

// Words

/** Our key, credit or account is at fault, whatever the status. */
const accountWords: ReadonlySet<string> = new Set([
  "insufficient_quota",
  "exceeded_current_quota_error",
  "insufficient_balance",
  "insufficient_credits",
  "not_enough_balance",
  "credit_limit",
  "billing_error",
  "billing_not_active",
  "billing_hard_limit_reached",
  "account_deactivated",
  "access_terminated",
  "invalid_api_key",
  "wrong_api_key",
  "incorrect_api_key_error",
  "api_key_invalid",
  "invalid_authentication_error",
  "authentication_error",
  "unauthenticated",
  "permission_error",
  "permission_denied",
  "arrearage",
  // Cloudflare: the daily free allocation is used up.
  "4006",
]);

const rateWords: ReadonlySet<string> = new Set([
  "rate_limit_exceeded",
  "rate_limit_error",
  "rate_limit_reached_error",
  "rate_limited",
  "resource_exhausted",
  "too_many_requests",
  "too_many_requests_error",
  "throttling",
  "throttlingexception",
]);

const filterWords: ReadonlySet<string> = new Set([
  "content_filter",
  "content_policy_violation",
  "data_inspection_failed",
  "invalid_prompt",
  "responsibleaipolicyviolation",
  // Z.ai
  "1301",
]);

/** Sent with status 400 although the model failed, not the request: another attempt may succeed. */
const failedModelWords: ReadonlySet<string> = new Set([
  // Cloudflare: the model failed.
  "2005",
  // Groq: the model wrote an invalid tool call or invalid JSON.
  "tool_use_failed",
  "json_validate_failed",
]);

/** Matched at the start only: later parts of a message may quote the client's text. */
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
      "account \\S{1,80} is suspended",
      "your team \\S{1,80} has either used all available credits",
      "authentication (fails|failed|error)",
    ].join("|") +
    ")",
  "i",
);

const contextMessage = new RegExp(
  [
    "maximum (context|prompt) length",
    "context (window|length|limit)",
    "prompt is too long",
    "prompt exceeds max length",
    "reduce the length of",
    "token count .{0,60}exceeds",
    "exceeded model token limit",
    "too many (input )?tokens",
    "too large for model with",
    "range of input length",
    "inputs. (tokens \\+ .max_new_tokens. must be <=|must have less than \\d+ tokens)",
  ].join("|"),
  "i",
);
