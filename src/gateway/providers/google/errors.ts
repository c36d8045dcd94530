/**
 * What an error of a Google API means for us (https://google.aip.dev/193): by the reason that it gives, then by its canonical
 * status where that says more, then by the status of HTTP, which is 400 for a wrong key and 429 for an account without credit.
 */
import { asArray, asObject, asText, parseJson } from "../wire/json.ts";
import { UpstreamFailure, type UpstreamCode } from "../provider.ts";
import { contextHint, failureDetail } from "../wire/error-hints.ts";
import { weighed } from "../wire/status-code.ts";

/** An answer other than 200: an object, or a list of one where a stream was asked for. */
export function classifyGoogleError(status: number, body: string): UpstreamFailure {
  const value = parseJson(body);
  return judge(status, asObject(Array.isArray(value) ? value[0] : value)?.["error"]);
}

/** An `error` where the status was 200, first of all or in the middle of a stream. It carries the status that it would have had. */
export function googleFailureIn(error: unknown): UpstreamFailure {
  const told = asObject(error)?.["code"];
  return judge(typeof told === "number" && told >= 400 && told <= 599 ? told : 502, error);
}

/** Of https://github.com/googleapis/googleapis/blob/master/google/api/error_reason.proto, those that our key or project is at fault for. */
const accountReason =
  /^(api_key_|access_token_|consumer_|service_disabled|billing_disabled|user_project_denied|security_policy_|location_(tax_)?policy_|credentials_missing)/;

/** `unknown` and `internal` are not among them: they blame nobody, so the status of HTTP decides. */
const codeByCanonicalStatus = new Map<string | undefined, UpstreamCode>([
  ["unauthenticated", "upstream_auth"],
  ["permission_denied", "upstream_auth"],
  // Where the account is, or that it has no billing: nothing that a request could change.
  ["failed_precondition", "upstream_auth"],
  ["resource_exhausted", "upstream_rate_limited"],
  ["invalid_argument", "upstream_rejected"],
  ["out_of_range", "upstream_rejected"],
  ["not_found", "upstream_rejected"],
  ["cancelled", "upstream_error"],
  ["aborted", "upstream_error"],
  ["unavailable", "upstream_error"],
  ["deadline_exceeded", "upstream_error"],
]);

// Matched at the start where a message may quote further on what the client sent.
const keyMessage = /^api key (not valid|not found|expired)/i;
/** "You exceeded your current quota" is said of every limit alike: these are the ones that no waiting helps against. */
const accountMessage =
  /^your prepayment credits are depleted|^your project has exceeded its (monthly )?spending cap|, limit: 0(?![\d.])/i;
const contextMessage = /^(unable to submit request because )?the input token count\b/i;
const effortMessage =
  /^(thinking level \w+ is not supported|(the thinking )?budget \d+ is invalid|.{0,60}max_output_tokens must be greater than the thinking)/i;
const effortHint = "The model does not take this reasoning_effort, or not with so low a max_tokens";

function judge(status: number, value: unknown): UpstreamFailure {
  const error = asObject(value) ?? {};
  const canonical = asText(error["status"])?.toLowerCase();
  const reasons = asArray(error["details"]).map((detail) => asText(asObject(detail)?.["reason"])?.toLowerCase() ?? "");
  const message = asText(error["message"]) ?? "";
  const ours = reasons.some((reason) => accountReason.test(reason)) || keyMessage.test(message);
  const code = ours ? "upstream_auth" : codeOf({ status, canonical, message });
  const words = [canonical ?? "", ...reasons].filter((word) => word !== "");
  return new UpstreamFailure(code, failureDetail(status, words), code === "upstream_rejected" ? hintFor(message) : null);
}

function codeOf({
  status,
  canonical,
  message,
}: {
  status: number;
  canonical: string | undefined;
  message: string;
}): UpstreamCode {
  const code = weighed(status, codeByCanonicalStatus.get(canonical));
  return code === "upstream_rate_limited" && accountMessage.test(message) ? "upstream_auth" : code;
}

function hintFor(message: string): string | null {
  if (contextMessage.test(message)) return contextHint;
  return effortMessage.test(message) ? effortHint : null;
}
