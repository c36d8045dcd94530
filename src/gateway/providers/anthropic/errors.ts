/**
 * What an error of the Messages API means for us (https://platform.claude.com/docs/en/api/errors): by its text where our account
 * is at fault, which is told as a fault of the request, then by its type where that says more than its status, then by its status.
 */
import { asObject, asText, parseJson } from "../wire/json.ts";
import { UpstreamFailure, type UpstreamCode } from "../provider.ts";
import { contextHint, failureDetail, filterHint } from "../wire/error-hints.ts";
import { weighed } from "../wire/status-code.ts";

/** An answer other than 200. */
export function classifyAnthropicError(status: number, body: string): UpstreamFailure {
  return judge(status, asObject(parseJson(body))?.["error"]);
}

/** An `error` where the status was 200: often overload, and then the first event of a stream. */
export function anthropicFailureIn(error: unknown): UpstreamFailure {
  return judge(200, error);
}

/** `api_error` is not among them: it blames nobody, so the status decides. */
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

/** Matched at the start alone: further on, a message may quote what the client sent. */
const accountMessage =
  /^(your credit balance is too low|you have reached your specified .{0,20}usage limits|(this|your) organization has been disabled)/i;
const contextMessage = /prompt is too long|exceed context limit|input is too long/i;
const filterMessage = /content filtering policy/i;

function judge(status: number, error: unknown): UpstreamFailure {
  const type = asText(asObject(error)?.["type"]) ?? "";
  const message = asText(asObject(error)?.["message"]) ?? "";
  const code = accountMessage.test(message) ? "upstream_auth" : codeOf(status, type);
  const hint = code === "upstream_rejected" ? hintFor(message) : null;
  return new UpstreamFailure(code, failureDetail(status, [type]), hint);
}

/** `invalid_request_error` stands for any status of 4xx that has no type of its own, and in a stream for a fault of the request. */
function codeOf(status: number, type: string): UpstreamCode {
  const rejected = status === 200 && type === "invalid_request_error";
  return rejected ? "upstream_rejected" : weighed(status, codeByType.get(type));
}

function hintFor(message: string): string | null {
  if (contextMessage.test(message)) return contextHint;
  return filterMessage.test(message) ? filterHint : null;
}
