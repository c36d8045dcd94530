/** Converts the items of a response to the fields of a chat completion. */
import { argumentsText, namelessCall } from "../openai/tool-calls.ts";
import { UpstreamFailure } from "../provider.ts";
import { asArray, asObject, asText, type JsonObject } from "../wire/json.ts";
import { mintedToolCallId } from "../../tool-call-id.ts";
import { idWithReasoning } from "./reasoning.ts";

/** What separates two parts of a summary, and the texts of two messages: each is a paragraph. */
export const paragraphEnd = "\n\n";

export type CallKind = "function" | "custom";

/** The kind of tool that an item calls; null if it calls none of the client's. */
export function callKindOf({ type }: JsonObject): CallKind | null {
  if (type === "function_call") return "function";
  return type === "custom_tool_call" ? "custom" : null;
}

/** Arguments of a function, or input of a custom tool. Clients cannot parse empty arguments. */
export function callText(kind: CallKind, item: JsonObject): string {
  return kind === "custom" ? (asText(item["input"]) ?? "") : argumentsText(item["arguments"]) || "{}";
}

export interface CallContext {
  /** The call's index among the answer's calls. */
  index: number;
  answerId: unknown;
  /** The `encrypted_content` before the call; null if there is none. */
  encrypted: unknown;
  signer: string | null;
}

/** @throws UpstreamFailure when it has no name, so that no client could run it */
export function callOf(kind: CallKind, item: JsonObject, text: string, context: CallContext): JsonObject {
  const name = asText(item["name"]) ?? "";
  if (name === "") throw new UpstreamFailure("upstream_error", namelessCall);
  const given = asText(item["call_id"]) || mintedToolCallId(context.answerId, context.index);
  const id = idWithReasoning(given, context.encrypted, context.signer);
  return { id, type: kind, [kind]: kind === "custom" ? { name, input: text } : { name, arguments: text } };
}

/** What a message says. */
export interface Said {
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
