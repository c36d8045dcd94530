/**
 * Classifies errors of the Responses API: those of chat completions, and a few that only this API has, such as summaries of reasoning for
 * organizations that are not verified, and a response that failed although its status was 200.
 */
import { classifyOpenaiError, failureIn } from "../openai/errors.ts";
import { UpstreamFailure } from "../provider.ts";
import { errorOf, failureDetail, filterHint } from "../wire/errors.ts";
import { asText, parseJson, type JsonObject } from "../wire/json.ts";

/** Only verified organizations get summaries of reasoning, which the gateway requests where the client sets an effort. */
const unverified = /^your organization must be verified/i;
const summaryHint = "The provider summarizes reasoning only for verified organizations; leave out reasoning_effort";

const reasoningHint =
  "The provider cannot read the reasoning in the ids of earlier tool calls; leave those calls out, or start a new conversation";

/** Codes of a response that failed although its status was 200: the request was refused. */
const refusals: ReadonlySet<unknown> = new Set(["invalid_prompt", "bio_policy", "misalignment_policy_violation"]);

/** Classifies a response whose status is not 200. */
export function classifyResponsesError(status: number, body: string): UpstreamFailure {
  return ofThisApi(status, errorOf(parseJson(body))) ?? classifyOpenaiError(status, body);
}

/** Classifies the `error` of a response that failed, and of an `error` event, in a response with status 200. */
export function responsesFailureIn(error: unknown): UpstreamFailure {
  const read = errorOf({ error });
  const code = asText(read["code"]);
  if (refusals.has(code)) return new UpstreamFailure("upstream_rejected", failureDetail(200, [code ?? ""]), filterHint);
  return ofThisApi(400, read) ?? failureIn(error);
}

/** @param status that the error has or implies */
function ofThisApi(status: number, error: JsonObject): UpstreamFailure | null {
  if (status === 400 && unverified.test(asText(error["message"]) ?? "")) {
    return new UpstreamFailure("upstream_rejected", `status ${status}: the organization is not verified`, summaryHint);
  }
  if (status !== 400 || error["code"] !== "invalid_encrypted_content") return null;
  const failure = new UpstreamFailure("upstream_rejected", `status ${status}: invalid_encrypted_content`, reasoningHint);
  failure.isOfThoughts = true;
  return failure;
}
