/**
 * Classifies errors of Google APIs (https://google.aip.dev/193): by the reason, then by the canonical status where it says more, then by
 * the HTTP status, which is 400 for a wrong key and 429 for an account without credit.
 */
import { asArray, asObject, asText, parseJson, type JsonObject } from "../wire/json.ts";
import { UpstreamFailure, type CauseHint, type UpstreamCode } from "../provider.ts";
import { contextHint, effortHint, errorOf, failureDetail, weighed } from "../wire/errors.ts";
import { withCause } from "../rejection.ts";

/** Classifies a response whose status is not 200: an object, or a list with one object for a stream. */
export function classifyGoogleError(status: number, body: string): UpstreamFailure {
  return withCause(judge(status, errorOf(parseJson(body))), body, status);
}

/** Classifies an `error` in a response with status 200, at the start of a stream or later. It contains its HTTP status. */
export function googleFailureIn(error: unknown): UpstreamFailure {
  const read = errorOf({ error });
  const code = Number(read["code"]);
  return withCause(judge(code >= 400 && code <= 599 ? code : 502, read), error);
}

/**
 * The reasons in https://github.com/googleapis/googleapis/blob/master/google/api/error_reason.proto for which our key or
 * project is at fault.
 */
const accountReason =
  /^(api_key_|access_token_|consumer_|service_disabled|billing_disabled|user_project_denied|security_policy_|location_(tax_)?policy_|credentials_missing)/;

/** `unknown` and `internal` are left out on purpose: they do not say who is at fault, so the HTTP status decides. */
const codeByCanonicalStatus = new Map<string | undefined, UpstreamCode>([
  ["unauthenticated", "upstream_auth"],
  ["permission_denied", "upstream_auth"],
  // The account's location or missing billing: no change of the request would help.
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

// Matched at the start where later parts of a message may quote the client's text.
const keyMessage = /^api key (not valid|not found|expired)/i;
/** Google reports every limit as "You exceeded your current quota". Waiting does not help against these. */
const accountMessage =
  /^your prepayment credits are depleted|^your project has exceeded its (monthly )?spending cap|, limit: 0(?![\d.])/i;
const contextMessage = /^(unable to submit request because )?the input token count\b/i;
/** Such as https://github.com/google-gemini/gemini-cli/issues/13467 and https://github.com/decolua/9router/issues/301 */
const thoughtsMessage = /^(unable to submit request because )?((corrupted|invalid) )?thought signature\b/i;
const effortMessage =
  /^(thinking level \w+ is not supported|(the thinking )?budget \d+ is invalid|.{0,60}max_output_tokens must be greater than the thinking)/i;

function judge(status: number, error: JsonObject): UpstreamFailure {
  const canonical = asText(error["status"])?.toLowerCase();
  const reasons = asArray(error["details"]).map((detail) => asText(asObject(detail)?.["reason"])?.toLowerCase() ?? "");
  const message = asText(error["message"]) ?? "";
  const ours = reasons.some((reason) => accountReason.test(reason)) || keyMessage.test(message);
  const weighedCode = weighed(status, codeByCanonicalStatus.get(canonical));
  const isSpent = weighedCode === "upstream_rate_limited" && accountMessage.test(message);
  const code = ours || isSpent ? "upstream_auth" : weighedCode;
  const words = [canonical ?? "", ...reasons].filter((word) => word !== "");
  const failure = new UpstreamFailure(code, failureDetail(status, words), code === "upstream_rejected" ? hintFor(message) : null);
  failure.isOfThoughts = code === "upstream_rejected" && thoughtsMessage.test(message);
  return failure;
}

function hintFor(message: string): CauseHint | null {
  if (contextMessage.test(message)) return contextHint;
  return effortMessage.test(message) ? effortHint : null;
}
