/** Encodes our request for the Responses API. Fields that it does not support were refused before (unsupported-fields.ts). */
import type { ReasoningEffort } from "../../models/model.ts";
import type { ChatBody, EncodedCall, ProviderCall } from "../provider.ts";
import { fittedEffort, takesSampling } from "../wire/effort.ts";
import { asArray, asObject, asText, type JsonObject } from "../wire/json.ts";
import { addedToFields } from "../wire/added-bytes.ts";
import { inputItems } from "./input.ts";
import { signerOf } from "./reasoning.ts";

/** See `WireFormat.addedBytes`. */
export function responsesAddedBytes(chat: ChatBody): number {
  if (chat["tools"] === undefined) return 0;
  const { tool_choice, response_format } = chat;
  return addedToFields(chat, { tools: toolsOf(chat), tool_choice, response_format });
}

/** Labels of the client's customers are not sent on, as in chat completions. JSON leaves out what is undefined. */
export function encodeResponsesRequest(call: ProviderCall): EncodedCall {
  const { generation, route, chat, maxOutputTokens, streamed, withoutThoughts } = call;
  const effort = fittedEffort(chat["reasoning_effort"], route.efforts);
  const body = {
    model: route.upstreamModel,
    input: inputItems(chat.messages, withoutThoughts ? null : signerOf(route)),
    store: false,
    include: ["reasoning.encrypted_content", ...(chat["logprobs"] === true ? ["message.output_text.logprobs"] : [])],
    max_output_tokens: maxOutputTokens,
    ...(takesSampling(route, effort) && { temperature: chat["temperature"], top_p: chat["top_p"] }),
    top_logprobs: chat["top_logprobs"],
    tools: toolsOf(chat),
    tool_choice: choiceOf(chat["tool_choice"]),
    parallel_tool_calls: chat["parallel_tool_calls"],
    reasoning: reasoningOf(effort, chat["reasoning_effort"]),
    text: textOf(chat),
    stream: streamed || undefined,
    stream_options: streamed ? { include_obfuscation: false } : undefined,
  };
  // OpenAI's support and logs read this id. It is not an idempotency key: a second attempt must be a second call.
  return { path: "/responses", headers: { "x-client-request-id": generation }, body: JSON.stringify(body) };
}

/** A client that sets an effort also receives the reasoning: the API returns a summary of it, and only on request. */
function reasoningOf(effort: ReasoningEffort | undefined, wanted: unknown): JsonObject | undefined {
  if (effort === undefined) return undefined;
  return wanted === "none" || effort === "none" ? { effort } : { effort, summary: "auto" };
}

function textOf({ response_format, verbosity }: ChatBody): JsonObject | undefined {
  const format = asObject(response_format);
  if (format === null) return verbosity === undefined ? undefined : { verbosity };
  return { format: { type: format["type"], ...asObject(format["json_schema"]) }, verbosity };
}

function toolsOf(chat: ChatBody): JsonObject[] | undefined {
  if (chat["tools"] === undefined) return undefined;
  return asArray(chat["tools"]).map((tool) => {
    const custom = asObject(asObject(tool)?.["custom"]);
    return custom === null ? functionTool(asObject(asObject(tool)?.["function"]) ?? {}) : customTool(custom);
  });
}

/** Functions are strict by default here, unlike in chat completions. A schema must be an object with `properties`, even without any. */
function functionTool({ name, description, parameters, strict }: JsonObject): JsonObject {
  return {
    type: "function",
    name,
    description,
    parameters: { type: "object", properties: {}, ...asObject(parameters) },
    strict: strict ?? false,
  };
}

/** The grammar stands in the format itself, not in an object of its own. */
function customTool({ name, description, format }: JsonObject): JsonObject {
  const { grammar, ...others } = asObject(format) ?? {};
  return { type: "custom", name, description, format: format && { ...others, ...asObject(grammar) } };
}

function choiceOf(choice: unknown): unknown {
  const chosen = asObject(choice);
  if (chosen === null) return choice;
  const allowed = asObject(chosen["allowed_tools"]);
  if (allowed === null) return namedTool(chosen);
  return {
    type: "allowed_tools",
    mode: allowed["mode"],
    tools: asArray(allowed["tools"]).map((tool) => namedTool(asObject(tool) ?? {})),
  };
}

function namedTool(choice: JsonObject): JsonObject {
  const type = asText(choice["type"]) ?? "";
  return { type, ...asObject(choice[type]) };
}
