/** Converts a whole response to our answer. */
import type { ReportedUsage, Route } from "../../models/model.ts";
import { UpstreamFailure, type WholeAnswer } from "../provider.ts";
import { asObject, type JsonObject } from "../wire/json.ts";
import { responsesFailureIn } from "./errors.ts";
import { finishReasonOf } from "./finish.ts";
import { callKindOf, callOf, callText, logprobsOf, paragraphEnd, reasoningIn, saidIn } from "./output.ts";
import { signerOf } from "./reasoning.ts";
import { ResponsesUsage } from "./usage.ts";

/** @throws UpstreamFailure when the body is an error despite status 200, or holds no answer */
export function decodeResponsesAnswer(body: unknown, route?: Route): WholeAnswer {
  const response = asObject(body);
  if (response === null) throw new UpstreamFailure("upstream_error", "the answer is not a JSON object");
  if (response["error"]) throw responsesFailureIn(response["error"]);
  const { output } = response;
  if (!Array.isArray(output)) throw new UpstreamFailure("upstream_error", "the answer holds no output");
  const items = output.map((item) => asObject(item) ?? {});
  const said = items.filter(({ type }) => type === "message").map(saidIn);
  const toolCalls = callsIn(items, response["id"], route === undefined ? null : signerOf(route));
  const reason = finishReasonOf(response, response["status"], toolCalls.length > 0);
  if (reason === null) throw new UpstreamFailure("upstream_error", "the provider reports a failure");
  const content = paragraphs(said.map((one) => one.content));
  const refusal = paragraphs(said.map((one) => one.refusal));
  const thoughts = paragraphs(items.filter(({ type }) => type === "reasoning").map(reasoningIn));
  return {
    message: {
      role: "assistant",
      content: content === "" && (toolCalls.length > 0 || refusal !== "") ? null : content,
      refusal: refusal || null,
      ...(thoughts !== "" && { reasoning_content: thoughts }),
      ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
    },
    finishReason: reason,
    logprobs: logprobsOf(said.flatMap(({ logprobs }) => logprobs)),
    usage: usageOf(response["usage"]),
  };
}

function usageOf(reported: unknown): ReportedUsage | null {
  const usage = new ResponsesUsage();
  usage.take(reported);
  return usage.usage();
}

function paragraphs(texts: readonly string[]): string {
  return texts.filter((text) => text !== "").join(paragraphEnd);
}

function callsIn(items: readonly JsonObject[], answerId: unknown, signer: string | null): JsonObject[] {
  const calls: JsonObject[] = [];
  let encrypted: unknown = null;
  for (const item of items) {
    if (item["type"] === "reasoning") encrypted = item["encrypted_content"];
    const kind = callKindOf(item);
    if (kind === null) continue;
    calls.push(callOf(kind, item, callText(kind, item), { index: calls.length, answerId, encrypted, signer }));
    encrypted = null;
  }
  return calls;
}
