/**
 * Encodes our request for the Messages API: the conversation (messages.ts), whether and how much the model may think, sampling, tools.
 *
 * A model thinks as its catalog entry and the request's effort allow. Where the API refuses thinking together with a forced call or
 * sampling fields, the client's explicit fields win. Earlier thoughts go along where the model thinks in this call too. Fields that the
 * API does not support were refused before (client-fields.ts), so nothing is refused here. A client's own request to the API keeps its
 * conversation and tools (native.ts); thinking and effort are fitted to the model there, too.
 */
import { Buffer } from "node:buffer";
import type { ReasoningEffort, Route } from "../../models/model.ts";
import type { ChatBody, EncodedCall, NativeRequest, ProviderCall } from "../provider.ts";
import { signerOf } from "../wire/answers.ts";
import { asObject, type JsonObject, asArray, asText } from "../wire/json.ts";
import {
  addedToArguments,
  addedToFields,
  continuingText,
  fittedEffort,
  openingText,
  reminderBytes,
  sealBytes,
  thoughtBytes,
} from "../wire/requests.ts";
import { conversationOf, type Conversation } from "./messages.ts";
import {
  breakpointField,
  cacheBreakpointsMax,
  keepLastBreakpoints,
  nativeAddedBytes,
  nativeConversation,
  nativeMessages,
} from "./native.ts";
import { formatSchema, fittedSchema, type FittedSchema, type SchemaProblem } from "./schema.ts";

/** The API version, which is not part of the URL. */
const version = "2023-06-01";
/** A client's own version is sent with its own request. */
const versions = [version, "2026-10-21"];

/** A first and a last user turn that some conversations get. */
const addedTurnsBytes = openingText.length + continuingText.length;

/** The beta of `block_binding`, which says what the API does with thoughts whose conversation has changed. */
const bindingControls = "thinking-binding-controls-2026-08-01";
/** The betas of `context_management`, and of `defer_loading` with its references. */
const contextManagement = "context-management-2025-06-27";
const toolSearch = "advanced-tool-use-2025-11-20";

/** See `WireFormat.addedBytes`. */
export function anthropicAddedBytes(chat: ChatBody): number {
  const own = nativeMessages(chat);
  if (own !== null) return nativeAddedBytes(chat, own, nativeTools(own));
  const { tools, response_format } = chat;
  const isFitted = tools !== undefined || response_format !== undefined;
  const fields = isFitted ? addedToFields(chat, { ...toolFields(chat), ...formatOf(asObject(response_format)) }) : 0;
  const thoughts = thoughtBytes(chat, (thought) => Buffer.byteLength(thought.text) + sealBytes(thought));
  return fields + thoughts + addedToArguments(chat) + addedTurnsBytes + reminderBytes(chat);
}

export function encodeAnthropicRequest(call: ProviderCall): EncodedCall {
  const { route, chat, maxOutputTokens, streamed } = call;
  const own = nativeMessages(chat);
  const thoughtful = withThoughts(call, own);
  const { conversation, thinking, isBound } = thoughtful;
  const { system, turns } = conversation;
  const described = own === null ? toolFields(chat) : nativeFields(own, chat, thoughtful);
  const body = {
    model: route.upstreamModel,
    max_tokens: maxOutputTokens,
    ...systemField(system),
    messages: turns,
    ...samplingFields(chat),
    ...stopFields(chat),
    ...described,
    ...(thinking.field && { thinking: thinking.field }),
    ...(own === null && outputField(chat, thinking)),
    ...cacheField(chat),
    ...(streamed && { stream: true }),
  };
  const betas = [...(isBound ? [bindingControls] : []), ...(own === null ? [] : betasOf(described, conversation))];
  const headers = {
    "anthropic-version": versions.find((known) => known === own?.version) ?? version,
    ...(betas.length > 0 && { "anthropic-beta": betas.join(",") }),
  };
  return { path: "/messages", headers, body: JSON.stringify(body) };
}

/**
 * What the API does not support in a function's parameters; null: nothing. Asked before credit is reserved.
 * @param at the path of the parameters
 */
export function parametersProblem({ parameters, strict }: JsonObject, at: string): SchemaProblem | null {
  if (strict === true) return strictSchema(parameters, at).problem;
  const type = asObject(parameters)?.["type"] ?? "object";
  return [type].flat().includes("object") ? null : { at: `${at}.type`, what: noObject };
}

function formatOf(responseFormat: JsonObject | null): JsonObject | null {
  const fitted = responseFormat && formatSchema(responseFormat);
  return fitted && { type: "json_schema", schema: fitted.schema };
}

interface Thoughtful {
  conversation: Conversation;
  thinking: Thinking;
  /** Thoughts are valid only after the same preceding content. */
  isBound: boolean;
}

/**
 * The conversation, with the model's thoughts if it thinks in this call too. A model that takes a budget refuses to think in the middle of
 * a turn that it began without a thought. Newer models refuse a thought if anything before it has changed, unless the request says to drop
 * it. A turn that began with thinking must continue with it, so `thinking` is sent even if the request has no effort.
 */
function withThoughts(call: ProviderCall, own: NativeRequest | null): Thoughtful {
  const { route, chat, withoutThoughts } = call;
  const thinking = own === null ? thinkingOf(call) : nativeThinking(call, own);
  // Models with adaptive thinking refuse a conversation that ends with a message of the model (prefill).
  const endsWithUser = route.thinking?.form === "adaptive";
  const conversationFor = (signer: string | null): Conversation =>
    own === null ? conversationOf(chat.messages, { signer, endsWithUser }) : nativeConversation(own, { signer, route });
  const conversation = conversationFor(thinking.takesThoughts && !withoutThoughts ? signerOf(route) : null);
  const { hasThoughts, isThoughtless } = conversation;
  if (route.thinking?.form === "budget") {
    if (thinking.field === null || !isThoughtless) return { conversation, thinking, isBound: false };
    return { conversation: conversationFor(null), thinking: { ...thinking, field: null }, isBound: false };
  }
  // The controls are documented only for adaptive thinking.
  const isBound = hasThoughts && route.thinking?.isBound === true && thinking.field?.["type"] !== "between_tools";
  if (!hasThoughts) return { conversation, thinking, isBound };
  const binding = isBound && { block_binding: { prefix_mismatch_behavior: "drop_block" } };
  return { conversation, thinking: { ...thinking, field: { type: "adaptive", ...thinking.field, ...binding } }, isBound };
}

function systemField([first, ...others]: Conversation["system"]): JsonObject {
  if (first === undefined) return {};
  const isOneText = others.length === 0 && first.cache_control === undefined;
  return { system: isOneText ? first.text : [first, ...others] };
}

function stopFields({ stop }: ChatBody): JsonObject {
  return stop === undefined ? {} : { stop_sequences: [stop].flat() };
}

function outputField({ response_format }: ChatBody, { effort }: Thinking): JsonObject {
  const format = formatOf(asObject(response_format));
  return effort || format ? { output_config: { ...(effort && { effort }), ...(format && { format }) } } : {};
}

function cacheField({ cache_control }: ChatBody): JsonObject {
  return cache_control === undefined ? {} : { cache_control };
}

// Thinking. The catalog says what each model takes

interface Thinking {
  /** The field `thinking`; null: left out, so that the model's default applies. */
  field: JsonObject | null;
  /** The field `output_config.effort`. */
  effort: string | null;
  /** Whether to send the thoughts of earlier calls: without thinking the API refuses or removes them. */
  takesThoughts: boolean;
}

/** The API has no `minimal`; `none` is a kind of thinking, not an effort. */
const adaptiveEfforts: readonly ReasoningEffort[] = ["low", "medium", "high", "xhigh", "max"];

/** Tokens. The vendor's bounds are 1,024 and `max_tokens`, of which the answer needs a part. */
const budgets = new Map([
  ["low", 2_048],
  ["medium", 8_192],
  ["high", 16_384],
]);
const budgetMax = 32_768;
const budgetMin = 1_024;
const budgetShareMax = 0.8;

/** Lower values of `top_p` are refused together with thinking. */
const thinkingTopPMin = 0.95;

const noThinking: Thinking = { field: null, effort: null, takesThoughts: false };

/** A client that sets an effort also receives the reasoning: newer models leave it out unless a summary is requested. */
function thinkingOf({ route, chat, maxOutputTokens }: Pick<ProviderCall, "route" | "chat" | "maxOutputTokens">): Thinking {
  if (chat["reasoning_effort"] === "none") return switchedOff(route, mayThink(chat));
  const effort = fittedEffort(chat["reasoning_effort"], route.efforts ?? adaptiveEfforts) ?? null;
  const takesBudget = route.thinking?.form === "budget";
  if (!mayThink(chat)) return { ...noThinking, effort: takesBudget ? null : effort };
  if (takesBudget) return withBudget(effort, maxOutputTokens);
  if (effort === null) return { field: null, effort, takesThoughts: true };
  return { field: { type: "adaptive", display: "summarized" }, effort, takesThoughts: true };
}

/**
 * What the client's own request asks for, in the form that the model takes: by itself where it asks for a budget, and within a budget where
 * the model takes no other. The chat has the effort, or what a budget amounts to.
 */
function nativeThinking(call: ProviderCall, { body }: NativeRequest): Thinking {
  const { route, chat, maxOutputTokens } = call;
  const { type, budget_tokens: budget, display } = asObject(body["thinking"]) ?? {};
  const { thinking: facts, efforts } = route;
  if (type === "disabled") return switchedOff(route, mayThink(chat));
  const takesBudget = facts?.form === "budget";
  const effort = fittedEffort(chat["reasoning_effort"], efforts ?? adaptiveEfforts) ?? null;
  if (!mayThink(chat)) return { ...noThinking, effort: takesBudget ? null : effort };
  if (type === "between_tools" && facts?.off === "between_tools") return { field: { type }, effort: null, takesThoughts: true };
  if (type === undefined) return takesBudget ? noThinking : { field: null, effort, takesThoughts: true };
  if (!takesBudget) return { field: { type: "adaptive", ...(display != null && { display }) }, effort, takesThoughts: true };
  if (typeof budget !== "number" || budget >= maxOutputTokens || budget < budgetMin)
    return withBudget(effort ?? "high", maxOutputTokens);
  return { field: { type: "enabled", budget_tokens: budget }, effort: null, takesThoughts: true };
}

/** A model that cannot stop thinking thinks as little as it can. Where it may think, it gets its earlier thoughts. */
function switchedOff({ thinking }: Route, takesThoughts: boolean): Thinking {
  switch (thinking?.off) {
    case "never":
      return { field: null, effort: "low", takesThoughts };
    case "between_tools":
      return { field: { type: "between_tools" }, effort: null, takesThoughts };
    default:
      return { ...noThinking, field: { type: "disabled" } };
  }
}

/** The API refuses thinking together with a forced call or sampling fields; the client asked for those explicitly, so they win. */
function mayThink(chat: ChatBody): boolean {
  const { tool_choice: choice } = chat;
  const isFree = choice === undefined || choice === "auto" || choice === "none";
  const { temperature, top_p } = samplingFields(chat);
  return isFree && temperature === undefined && !(typeof top_p === "number" && top_p < thinkingTopPMin);
}

/** Without room for the smallest budget the model does not think. */
function withBudget(effort: string | null, maxOutputTokens: number): Thinking {
  if (effort === null || maxOutputTokens <= budgetMin) return noThinking;
  const wanted = Math.min(budgets.get(effort) ?? budgetMax, Math.floor(maxOutputTokens * budgetShareMax));
  return { field: { type: "enabled", budget_tokens: Math.max(wanted, budgetMin) }, effort: null, takesThoughts: true };
}

// Sampling

/** The default of both fields. Newer models refuse any other value, and older models refuse both fields at once. */
const byDefault = 1;

/** Many clients set both fields, which the API refuses together: then only the temperature is sent. */
function samplingFields({ temperature, top_p }: ChatBody): JsonObject {
  if (temperature !== undefined && temperature !== byDefault) return { temperature };
  return top_p === undefined || top_p === byDefault ? {} : { top_p };
}

// Tools

function toolFields(chat: ChatBody): JsonObject {
  const tools = asArray(chat["tools"]).map((tool) => toolOf(asObject(tool) ?? {}));
  if (tools.length === 0) return {};
  const choice = toolChoiceOf(chat);
  return { tools, ...(choice && { tool_choice: choice }) };
}

/** null: the API's default. */
function toolChoiceOf(chat: ChatBody): JsonObject | null {
  const choice = choiceOf(chat["tool_choice"]);
  const oneAtATime = chat["parallel_tool_calls"] === false && choice?.["type"] !== "none";
  return oneAtATime ? { type: "auto", ...choice, disable_parallel_tool_use: true } : choice;
}

/** What of the client's own request describes the prompt and the answer, besides the conversation. */
function nativeFields(own: NativeRequest, chat: ChatBody, { conversation, thinking }: Thoughtful): JsonObject {
  const { output_config, context_management } = own.body;
  const tools = nativeTools(own);
  const blocks = conversation.turns.flatMap(({ content }) => content);
  const most = cacheBreakpointsMax - (chat["cache_control"] === undefined ? 0 : 1);
  keepLastBreakpoints([...tools, ...conversation.system, ...blocks], most);
  const choice = toolChoiceOf(chat);
  const { effort } = thinking;
  const format = asObject(asObject(output_config)?.["format"]);
  const edits = editsOf(asObject(context_management), thinking);
  return {
    ...(tools.length > 0 && { tools, ...(choice && { tool_choice: choice }) }),
    ...((effort ?? format) && {
      output_config: { ...(effort && { effort }), ...(format && { format: { type: "json_schema", schema: format["schema"] } }) },
    }),
    ...(edits.length > 0 && { context_management: { edits } }),
  };
}

/** All tools of the client, also those that the model must not see yet: the API keeps them from it. */
function nativeTools({ body }: NativeRequest): JsonObject[] {
  return asArray(body["tools"]).map((tool) => {
    const { name, description, input_schema, strict, defer_loading, cache_control } = asObject(tool) ?? {};
    const isDeferred = defer_loading === true;
    return {
      name,
      ...(typeof description === "string" && { description }),
      input_schema: strict === true ? input_schema : inputSchema(asObject(input_schema) ?? {}),
      ...(typeof strict === "boolean" && { strict }),
      ...(isDeferred ? { defer_loading } : breakpointField(cache_control)),
    };
  });
}

const editFields = new Set(["type", "trigger", "keep", "clear_at_least", "exclude_tools", "clear_tool_inputs"]);

/** The API refuses to clear thoughts where the model does not think. */
function editsOf(management: JsonObject | null, { field }: Thinking): JsonObject[] {
  const thinks = field?.["type"] === "adaptive" || field?.["type"] === "enabled";
  const edits = asArray(management?.["edits"]).map((value) => asObject(value) ?? {});
  return edits
    .filter(({ type }) => thinks || !String(type).startsWith("clear_thinking_"))
    .map((edit) => Object.fromEntries(Object.entries(edit).filter(([name, value]) => editFields.has(name) && value !== null)));
}

/** Only what is sent needs one, whatever the client names: an unknown beta may have another price. */
function betasOf({ tools, context_management }: JsonObject, { turns }: Conversation): string[] {
  const refers = (block: JsonObject): boolean =>
    block["type"] === "tool_result" && asArray(block["content"]).some((part) => asObject(part)?.["type"] === "tool_reference");
  const searches =
    asArray(tools).some((tool) => asObject(tool)?.["defer_loading"] === true) ||
    turns.some(({ content }) => content.some(refers));
  return [...(context_management === undefined ? [] : [contextManagement]), ...(searches ? [toolSearch] : [])];
}

function toolOf({ function: called, cache_control }: JsonObject): JsonObject {
  const { name, description, parameters, strict } = asObject(called) ?? {};
  return {
    name,
    ...(description !== undefined && { description }),
    input_schema: strict === true ? strictSchema(parameters, "").schema : inputSchema(asObject(parameters) ?? {}),
    ...(strict === true && { strict }),
    ...(cache_control !== undefined && { cache_control }),
  };
}

const noObject = "arguments that are not an object";

/**
 * A function without parameters accepts none.
 * @param at the path of the parameters, for the problem
 */
function strictSchema(parameters: unknown, at: string): FittedSchema {
  const fitted = fittedSchema({ properties: {}, ...inputSchema(asObject(parameters) ?? {}) }, at);
  const { schema, problem } = fitted;
  return problem !== null || schema["type"] === "object" ? fitted : { schema, problem: { at: `${at}.type`, what: noObject } };
}

const combinations = ["allOf", "anyOf", "oneOf"];

/**
 * The API refuses `allOf`, `anyOf` and `oneOf` at the top of an input schema, which some tool servers write. The input then gets the fields
 * of all variants and requires those that are always required; the description tells the model how they combine. A field is described once:
 * the description has a field's schema only where variants differ in it.
 */
function inputSchema(parameters: JsonObject): JsonObject {
  const combined = combinations.filter((keyword) => Array.isArray(parameters[keyword]));
  if (combined.length === 0) return { ...parameters, type: "object" };
  const rest = Object.fromEntries(Object.entries(parameters).filter(([keyword]) => !combined.includes(keyword)));
  const variants = [...combined.flatMap((keyword) => asArray(parameters[keyword])), rest];
  const always = combined.flatMap((keyword) => requiredBy(keyword, asArray(parameters[keyword])));
  const properties = Object.fromEntries(variants.flatMap((one) => Object.entries(propertiesOf(one))));
  const notes = combined.map((keyword) => {
    const described = asArray(parameters[keyword]).map((one) => withoutDescribed(one, properties));
    return `${keyword}: ${JSON.stringify(described)}`;
  });
  return {
    ...rest,
    type: "object",
    properties,
    required: [...new Set([...asArray(rest["required"]), ...always])],
    description: [asText(rest["description"]) ?? "", `{${notes.join(", ")}}`].filter((text) => text !== "").join("\n\n"),
  };
}

/** The fields that any schema requires for `allOf`, otherwise those that every schema requires. */
function requiredBy(keyword: string, variants: readonly unknown[]): unknown[] {
  const lists = variants.map((one) => asArray(asObject(one)?.["required"]));
  if (keyword === "allOf") return lists.flat();
  const [first = [], ...others] = lists.map((list) => new Set(list));
  return [...first].filter((name) => others.every((list) => list.has(name)));
}

function propertiesOf(schema: unknown): JsonObject {
  return asObject(asObject(schema)?.["properties"]) ?? {};
}

/** Any value fits the schema `{}`, which replaces one of `properties`. */
function withoutDescribed(variant: unknown, properties: JsonObject): unknown {
  const own = Object.entries(propertiesOf(variant));
  if (own.length === 0) return variant;
  return {
    ...asObject(variant),
    properties: Object.fromEntries(own.map(([name, one]) => [name, one === properties[name] ? {} : one])),
  };
}

const choices = new Map<unknown, JsonObject>([
  ["auto", { type: "auto" }],
  ["none", { type: "none" }],
  ["required", { type: "any" }],
]);

/** null if the client made no choice. */
function choiceOf(choice: unknown): JsonObject | null {
  const called = asObject(asObject(choice)?.["function"]);
  return called ? { type: "tool", name: called["name"] } : (choices.get(choice) ?? null);
}
