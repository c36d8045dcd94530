/**
 * The words by which vendors of this API distinguish failures: codes, types, states and reasons in lower case, or the shortest
 * phrase of their text. Each has a case under its vendor in test/fixtures/openai/errors.json.
 */

/** Our key, credit or account is at fault, whatever the status. */
export const accountWords: ReadonlySet<string> = new Set([
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

export const rateWords: ReadonlySet<string> = new Set([
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

export const filterWords: ReadonlySet<string> = new Set([
  "content_filter",
  "content_policy_violation",
  "data_inspection_failed",
  "invalid_prompt",
  "responsibleaipolicyviolation",
  // Z.ai
  "1301",
]);

/** Sent with status 400 although the model failed, not the request: another attempt may succeed. */
export const failedModelWords: ReadonlySet<string> = new Set([
  // Cloudflare: the model failed.
  "2005",
  // Groq: the model wrote an invalid tool call or invalid JSON.
  "tool_use_failed",
  "json_validate_failed",
]);

/** Matched at the start only: later parts of a message may quote the client's text. */
export const accountMessage = new RegExp(
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

export const contextMessage = new RegExp(
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
