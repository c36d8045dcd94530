/** Converts a whole answer of generateContent to our answer. */
import { joinPiece } from "../wire/join-pieces.ts";
import { asObject, type JsonObject } from "../wire/json.ts";
import { toldFailure } from "../wire/told-failure.ts";
import { UpstreamFailure, type WholeAnswer } from "../provider.ts";
import { googleFailureIn } from "./errors.ts";
import { finishReasonIn } from "./finish.ts";
import { candidateOf, GoogleParts } from "./parts.ts";
import { GoogleUsage } from "./usage.ts";

/** @throws UpstreamFailure when the body is an error despite status 200, or holds no answer */
export function decodeGoogleAnswer(body: unknown): WholeAnswer {
  const answer = asObject(Array.isArray(body) ? body[0] : body);
  if (answer === null) throw new UpstreamFailure("upstream_error", "the answer is not a JSON object");
  const told = answer["error"] || candidateOf(answer) === null ? toldFailure(answer) : null;
  if (told !== null) throw googleFailureIn(told);
  const parts = new GoogleParts();
  const { content, reasoning, toolCalls } = parts.take(answer);
  const reason = finishReasonIn(answer, parts.calledTools);
  if (reason === null && candidateOf(answer) === null)
    throw new UpstreamFailure("upstream_error", "the answer holds no candidate");
  if (reason === "failed") throw new UpstreamFailure("upstream_error", "the provider reports a failure");
  const calls: JsonObject = {};
  joinPiece(calls, { tool_calls: [...toolCalls, ...parts.end()] });
  const usage = new GoogleUsage();
  usage.take(answer["usageMetadata"]);
  return {
    message: {
      role: "assistant",
      content: content === "" && parts.calledTools ? null : content,
      refusal: null,
      ...(reasoning !== "" && { reasoning_content: reasoning }),
      ...(parts.calledTools && calls),
    },
    finishReason: reason ?? (parts.calledTools ? "tool_calls" : "stop"),
    logprobs: null,
    usage: usage.usage(),
  };
}
