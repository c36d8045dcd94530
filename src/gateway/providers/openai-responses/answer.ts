/**
 * Converts a whole response to our answer, and holds what the stream reads in the same way: items, reasoning, finish reasons, counts. The
 * API stores nothing for us, so it sends the reasoning before a call in encrypted form and wants it back with the call's result; without it
 * the model starts over at each step of a tool loop. It travels within the call's id, as signatures do (gateway/tool-call-id.ts), or apart
 * for a call that wants thoughts.
 */
import { reasoningCharactersMax } from "../../limits.ts";
import type { ReportedUsage, Route } from "../../models/model.ts";
import { mintedToolCallId, readToolCallId, signedToolCallId } from "../../tool-call-id.ts";
import { UsageTally } from "../openai/answer.ts";
import { argumentsText, namelessCall } from "../openai/tool-calls.ts";
import {
  UpstreamFailure,
  type AnswerPiece,
  type AnswerWants,
  type FinishReason,
  type ThoughtEvent,
  type WholeAnswer,
} from "../provider.ts";
import { responsesFailureIn } from "./errors.ts";
import { finalReason, signerOf } from "../wire/answers.ts";
import { asObject, type JsonObject, asArray, asText } from "../wire/json.ts";

/** @throws UpstreamFailure when the body is an error despite status 200, or holds no answer */
export function decodeResponsesAnswer(body: unknown, route?: Route, wants?: AnswerWants): WholeAnswer {
  const response = asObject(body);
  if (response === null) throw new UpstreamFailure("upstream_error", "the answer is not a JSON object");
  if (response["error"]) throw responsesFailureIn(response["error"]);
  const { output } = response;
  if (!Array.isArray(output)) throw new UpstreamFailure("upstream_error", "the answer holds no output");
  const items = output.map((item) => asObject(item) ?? {});
  const said = items.filter(({ type }) => type === "message").map(saidIn);
  const toolCalls = callsIn(items, response["id"], wants || route === undefined ? null : signerOf(route));
  const reason = responsesFinishReason(response, response["status"], toolCalls.length > 0);
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
    ...(wants && { pieces: piecesOf(items, toolCalls) }),
  };
}

/** The items in the model's order, each reasoning with its encrypted form. Texts are joined as in the message. */
function piecesOf(items: readonly JsonObject[], calls: readonly JsonObject[]): AnswerPiece[] {
  const begun = new Set<string>();
  let index = 0;
  const said = (field: "content" | "refusal", text: string): AnswerPiece[] => {
    if (text === "") return [];
    const separator = begun.has(field) ? paragraphEnd : "";
    begun.add(field);
    return [piece(field, separator + text)];
  };
  return items.flatMap((item) => {
    if (callKindOf(item) !== null) return [piece("tool_calls", [{ index, ...calls[index++] }])];
    if (item["type"] === "message") {
      const { content, refusal } = saidIn(item);
      return [...said("content", content), ...said("refusal", refusal)];
    }
    if (item["type"] !== "reasoning") return [];
    const reasoning = reasoningIn(item);
    return [...(reasoning === "" ? [] : [piece("reasoning_content", reasoning)]), thoughtEnd(item)];
  });
}

function piece(field: string, value: unknown): AnswerPiece {
  return { kind: "delta", delta: { [field]: value }, finishReason: null };
}

/** The end of a reasoning item, for a call that wants thoughts. */
export function thoughtEnd({ encrypted_content }: JsonObject): ThoughtEvent {
  return { kind: "thought", seal: asText(encrypted_content) ?? "", redacted: false };
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

function paragraphs(texts: readonly string[]): string {
  return texts.filter((text) => text !== "").join(paragraphEnd);
}

function usageOf(reported: unknown): ReportedUsage | null {
  const usage = new ResponsesUsage();
  usage.take(reported);
  return usage.usage();
}

// Items

/** What separates two parts of a summary, and the texts of two messages: each is a paragraph. */
export const paragraphEnd = "\n\n";

export type CallKind = "function" | "custom";

/** The kind of tool that an item calls; null if it is not the client's tool. */
export function callKindOf({ type }: JsonObject): CallKind | null {
  if (type === "function_call") return "function";
  return type === "custom_tool_call" ? "custom" : null;
}

/** Arguments of a function, or input of a custom tool. Clients cannot parse empty arguments. */
export function callText(kind: CallKind, item: JsonObject): string {
  return kind === "custom" ? (asText(item["input"]) ?? "") : argumentsText(item["arguments"]) || "{}";
}

interface CallOrigin {
  /** The call's index among the answer's calls. */
  index: number;
  answerId: unknown;
  /** The `encrypted_content` before the call; null if there is none. */
  encrypted: unknown;
  signer: string | null;
}

/** @throws UpstreamFailure when it has no name, so that no client could run it */
export function callOf(kind: CallKind, item: JsonObject, text: string, context: CallOrigin): JsonObject {
  const name = asText(item["name"]) ?? "";
  if (name === "") throw new UpstreamFailure("upstream_error", namelessCall);
  const given = asText(item["call_id"]) || mintedToolCallId(context.answerId, context.index);
  const id = idWithReasoning(given, context.encrypted, context.signer);
  return { id, type: kind, [kind]: kind === "custom" ? { name, input: text } : { name, arguments: text } };
}

/** The text of a message. */
interface Said {
  content: string;
  refusal: string;
  logprobs: readonly unknown[];
}

export function saidIn({ content }: JsonObject): Said {
  const parts = asArray(content).map((part) => asObject(part) ?? {});
  const texts = (field: "text" | "refusal") => parts.map((part) => asText(part[field]) ?? "").join("");
  return { content: texts("text"), refusal: texts("refusal"), logprobs: parts.flatMap(({ logprobs }) => asArray(logprobs)) };
}

/** The summary of a reasoning item, or the reasoning itself if the provider returns it. */
export function reasoningIn({ summary, content }: JsonObject): string {
  const parts = asArray(summary).length > 0 ? asArray(summary) : asArray(content);
  return parts.map((part) => asText(asObject(part)?.["text"]) ?? "").join(paragraphEnd);
}

/** null if there are none. */
export function logprobsOf(content: readonly unknown[]): JsonObject | null {
  return content.length === 0 ? null : { content, refusal: null };
}

// Reasoning in ids

/**
 * @param encrypted the `encrypted_content` before the call, or whatever is in its place. It is left out, and the id unchanged, if it is too
 *   long for an id or would not return exactly as it came
 * @param signer the model that gets it back; null: no model does, so nothing is added
 */
export function idWithReasoning(id: string, encrypted: unknown, signer: string | null): string {
  const text = asText(encrypted) ?? "";
  if (signer === null || text === "" || text.length > reasoningCharactersMax) return id;
  return fromBase64(text) === text ? signedToolCallId(id, { signer, base64: text }) : id;
}

/** @param signer null: no model gets reasoning back. @returns the id without the reasoning, and the reasoning if it is this signer's */
export function readIdWithReasoning(text: string, signer: string | null): { id: string; encrypted: string | null } {
  const { id, signature } = readToolCallId(text);
  return { id, encrypted: signature?.signer === signer ? fromBase64(signature.base64) : null };
}

/** Base64 of either alphabet in the form of the API: that of URLs, with padding. */
function fromBase64(base64: string): string {
  const unpadded = Buffer.from(base64, "base64").toString("base64url");
  return unpadded + "=".repeat(-unpadded.length & 3);
}

// Finish reasons

/**
 * An incomplete response reached its bound on output, unless it says that the rest was withheld.
 * @param status what the response or its last event says; a response without one, or with null, is complete
 * @param calledTools whether the answer calls tools; SDKs run them only with the reason `tool_calls`
 * @returns null when the provider did not finish the response
 */
export function responsesFinishReason(response: JsonObject, status: unknown, calledTools: boolean): FinishReason | null {
  if ((status ?? "completed") === "completed") return finalReason("stop", calledTools);
  if (status !== "incomplete") return null;
  return asObject(response["incomplete_details"])?.["reason"] === "content_filter" ? "content_filter" : "length";
}

/** The counts of the Responses API: those of chat completions, most under other names. */
export class ResponsesUsage {
  readonly #tally = new UsageTally();

  /**
   * Reads `usage`, or whatever value is in its place. Several events may have one, and each a part of the counts.
   * @returns whether it contained a new count
   */
  take(value: unknown): boolean {
    const reported = asObject(value) ?? {};
    return this.#tally.take({
      prompt_tokens: reported["input_tokens"],
      completion_tokens: reported["output_tokens"],
      total_tokens: reported["total_tokens"],
      prompt_tokens_details: reported["input_tokens_details"],
      completion_tokens_details: reported["output_tokens_details"],
    });
  }

  /** null if nothing was counted so far. */
  usage(): ReportedUsage | null {
    return this.#tally.usage();
  }
}
