/**
 * Classifies errors of the Messages API (https://platform.claude.com/docs/en/api/errors). The text decides first where it shows that our
 * account is at fault, because the API reports this as a fault of the request. Then the error type decides where it says more than the
 * status. Otherwise the status decides.
 */
import { asObject, asText, parseJson, type JsonObject } from "../wire/json.ts";
import { UpstreamFailure, type CauseHint, type UpstreamCode } from "../provider.ts";
import { contextHint, errorOf, failureDetail, filterHint, weighed } from "../wire/errors.ts";
import { withCause } from "../rejection.ts";

/** Classifies a response whose status is not 200. */
export function classifyAnthropicError(status: number, body: string): UpstreamFailure {
  return withCause(judge(status, errorOf(asObject(parseJson(body)))), body, status);
}

/** Classifies an `error` in a response with status 200: often an overload, reported as the first event of a stream. */
export function anthropicFailureIn(error: unknown): UpstreamFailure {
  return withCause(judge(200, errorOf({ error })), error);
}

/** `api_error` is left out on purpose: it does not say who is at fault, so the status decides. */
const codeByType = new Map<string, UpstreamCode>([
  ["authentication_error", "upstream_auth"],
  ["billing_error", "upstream_auth"],
  ["permission_error", "upstream_auth"],
  ["not_found_error", "upstream_rejected"],
  ["request_too_large", "upstream_rejected"],
  ["rate_limit_error", "upstream_rate_limited"],
  ["timeout_error", "upstream_error"],
  ["overloaded_error", "upstream_error"],
]);

/** Matched at the start only: later parts of a message may quote the client's text. */
const accountMessage =
  /^(your credit balance is too low|you have reached your specified .{0,20}usage limits|(this|your) organization has been disabled)/i;
const contextMessage = /prompt is too long|exceed context limit|input is too long/i;
const filterMessage = /content filtering policy/i;
/**
 * A thinking block that was changed or moved (https://github.com/Yeachan-Heo/gajae-code/issues/4247,
 * https://github.com/eclipse-theia/theia/issues/18044, https://github.com/anthropics/claude-code/issues/20691,
 * https://platform.claude.com/docs/en/build-with-claude/preserved-thinking/fix-bound-to-a-different-conversation). Matched near the start
 * for the same reason.
 */
const thoughtsMessage =
  /^(messages\.[\w.]+: .{0,60}thinking|messages\.\d+\.content\.\d+\.(redacted_)?thinking\b|.{0,40}thinking`? blocks?\b)/i;

function judge(status: number, error: JsonObject): UpstreamFailure {
  const type = asText(error["type"]) ?? "";
  const message = asText(error["message"]) ?? "";
  const code = accountMessage.test(message) ? "upstream_auth" : codeOf(status, type);
  const hint = code === "upstream_rejected" ? hintFor(message) : null;
  const failure = new UpstreamFailure(code, failureDetail(status, [type]), hint);
  failure.isOfThoughts = code === "upstream_rejected" && thoughtsMessage.test(message);
  return failure;
}

/** `invalid_request_error` covers every 4xx that has no type; in a stream it means that the request is at fault. */
function codeOf(status: number, type: string): UpstreamCode {
  const rejected = status === 200 && type === "invalid_request_error";
  return rejected ? "upstream_rejected" : weighed(status, codeByType.get(type));
}

function hintFor(message: string): CauseHint | null {
  if (contextMessage.test(message)) return contextHint;
  return filterMessage.test(message) ? filterHint : null;
}
