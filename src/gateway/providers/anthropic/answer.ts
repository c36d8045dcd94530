/** Converts a whole Anthropic message to our answer. */
import type { ReportedUsage, Route } from "../../models/model.ts";
import { asObject, asText, type JsonObject } from "../wire/json.ts";
import { UpstreamFailure, type WholeAnswer } from "../provider.ts";
import { mintedToolCallId } from "../../tool-call-id.ts";
import { namelessCall, wholeArguments } from "../openai/tool-calls.ts";
import { toldFailure } from "../wire/told-failure.ts";
import { anthropicFailureIn } from "./errors.ts";
import { finishReasonOf } from "./finish.ts";
import { ThoughtsBeforeCalls } from "./thoughts.ts";
import { AnthropicUsage } from "./usage.ts";

/**
 * @param route the called one; absent: no thoughts are kept for it
 * @throws UpstreamFailure when the body is an error despite status 200, or holds no answer
 */
export function decodeAnthropicAnswer(body: unknown, route?: Route): WholeAnswer {
  const message = asObject(Array.isArray(body) ? body[0] : body);
  if (message === null) throw new UpstreamFailure("upstream_error", "the answer is not a JSON object");
  const { content } = message;
  const told = message["error"] || !Array.isArray(content) ? toldFailure(message) : null;
  if (told !== null) throw anthropicFailureIn(told);
  if (!Array.isArray(content)) throw new UpstreamFailure("upstream_error", "the answer holds no content");
  const blocks = content.map((block) => asObject(block) ?? {});
  const texts = textsOf(blocks, "text");
  const reasoning = textsOf(blocks, "thinking").join("");
  const toolCalls = toolCallsOf(blocks, { answerId: message["id"], thoughts: new ThoughtsBeforeCalls(route) });
  const finishReason = finishReasonOf(message["stop_reason"], toolCalls.length > 0);
  if (finishReason === null) throw new UpstreamFailure("upstream_error", "the provider reports a failure");
  return {
    message: {
      role: "assistant",
      content: texts.length === 0 && toolCalls.length > 0 ? null : texts.join(""),
      refusal: null,
      ...(reasoning !== "" && { reasoning_content: reasoning }),
      ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
    },
    finishReason,
    logprobs: null,
    usage: usageOf(message["usage"]),
  };
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

function toolCallsOf(
  blocks: readonly JsonObject[],
  { answerId, thoughts }: { answerId: unknown; thoughts: ThoughtsBeforeCalls },
): JsonObject[] {
  const calls: JsonObject[] = [];
  for (const block of blocks) {
    if (block["type"] !== "tool_use") thoughts.block(block);
    else {
      const name = asText(block["name"]) ?? "";
      if (name === "") throw new UpstreamFailure("upstream_error", namelessCall);
      const called = { name, arguments: wholeArguments(block["input"]) };
      const id = asText(block["id"]) || mintedToolCallId(answerId, calls.length);
      calls.push({ id: thoughts.signed(id), type: "function", function: called });
    }
  }
  return calls;
}
