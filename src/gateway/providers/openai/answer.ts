/** Converts a whole chat completion to our answer. */
import { UpstreamFailure, type WholeAnswer } from "../provider.ts";
import { asArray, asObject } from "../wire/json.ts";
import { toldFailure } from "../wire/told-failure.ts";
import { failureIn } from "./errors.ts";
import { finishReason, reportedReason } from "./finish.ts";
import { contentText, firstChoice, wholeFields } from "./message.ts";
import { wholeToolCalls } from "./tool-calls.ts";
import { UsageTally } from "./usage.ts";

/** @throws UpstreamFailure when the body is an error despite status 200, or holds no answer */
export function decodeOpenaiAnswer(body: unknown): WholeAnswer {
  const completion = asObject(Array.isArray(body) ? body[0] : body);
  if (completion === null) throw new UpstreamFailure("upstream_error", "the answer is not a JSON object");
  const choice = firstChoice(completion);
  const told = choice === null || completion["error"] ? toldFailure(completion) : null;
  if (told !== null) throw failureIn(told);
  const message = asObject(choice?.["message"]);
  if (choice === null || message === null) throw new UpstreamFailure("upstream_error", "the answer holds no message");
  const toolCalls = wholeToolCalls(asArray(message["tool_calls"]), completion["id"]);
  const reason = finishReason(reportedReason(choice["finish_reason"]) || "stop", toolCalls.length > 0);
  if (reason === null) throw new UpstreamFailure("upstream_error", "the provider reports a failure");
  const tally = new UsageTally();
  tally.take(completion["usage"]);
  return {
    message: {
      role: "assistant",
      content: contentText(message["content"]),
      refusal: null,
      ...wholeFields(message),
      ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
    },
    finishReason: reason,
    logprobs: choice["logprobs"] ?? null,
    usage: tally.usage(),
  };
}
