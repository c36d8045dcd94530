/** Converts a whole Anthropic message to our answer. */
import type { ReportedUsage } from "../../models/model.ts";
import { asObject, asText, type JsonObject } from "../wire/json.ts";
import { UpstreamFailure, type FinishReason, type WholeAnswer } from "../provider.ts";
import { mintedToolCallId } from "../wire/tool-call-id.ts";
import { toldFailure } from "../wire/told-failure.ts";
import { anthropicFailureIn } from "./errors.ts";
import { finishReasonOf } from "./finish.ts";
import { AnthropicUsage } from "./usage.ts";

/** @throws UpstreamFailure when the body is an error despite status 200, or holds no answer */
export function decodeAnthropicAnswer(body: unknown): WholeAnswer {
  const message = asObject(body);
  if (message === null) throw new UpstreamFailure("upstream_error", "the answer is not a JSON object");
  const { content } = message;
  const told = message["error"] || !Array.isArray(content) ? toldFailure(message) : null;
  if (told !== null) throw anthropicFailureIn(told);
  if (!Array.isArray(content)) throw new UpstreamFailure("upstream_error", "the answer holds no content");
  const blocks = content.map((block) => asObject(block) ?? {});
  const texts = textsOf(blocks, "text");
  const reasoning = textsOf(blocks, "thinking").join("");
  const toolCalls = blocks
    .filter((block) => block["type"] === "tool_use")
    .map((block, index) => toolCallOf(block, { answerId: message["id"], index }));
  return {
    message: {
      role: "assistant",
      content: texts.length === 0 && toolCalls.length > 0 ? null : texts.join(""),
      refusal: null,
      ...(reasoning !== "" && { reasoning_content: reasoning }),
      ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
    },
    finishReason: finishOf(message["stop_reason"], toolCalls.length > 0),
    logprobs: null,
    usage: usageOf(message["usage"]),
  };
}

function finishOf(stopReason: unknown, calledTools: boolean): FinishReason {
  const reason = finishReasonOf(stopReason, calledTools);
  if (reason === null) throw new UpstreamFailure("upstream_error", "the provider reports a failure");
  return reason;
}

function usageOf(reported: unknown): ReportedUsage | null {
  const usage = new AnthropicUsage();
  usage.take(reported);
  return usage.usage();
}

/** Text blocks hold their text in `text`, thinking blocks in `thinking`. */
function textsOf(blocks: JsonObject[], type: "text" | "thinking"): string[] {
  return blocks.filter((block) => block["type"] === type).map((block) => asText(block[type]) ?? "");
}

function toolCallOf({ id, name, input }: JsonObject, { answerId, index }: { answerId: unknown; index: number }): JsonObject {
  const called = { name: asText(name) ?? "", arguments: JSON.stringify(input ?? {}) };
  return { id: asText(id) || mintedToolCallId(answerId, index), type: "function", function: called };
}
