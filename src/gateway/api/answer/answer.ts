/**
 * The bodies of answers in the official form: usage, log probabilities, messages and their deltas, whole chat completions. Whatever a
 * provider sent, a client gets these fields and no others, and SDKs find every field that they read. Usage and whole answers are written
 * out as text where that is faster than making an object first.
 */
import { Type, type Static, type TProperties } from "@sinclair/typebox";
import { textOrNull } from "../../../http/json-schema.ts";
import { isJsonObject } from "../../../http/json.ts";
import { formatUsd, usdAsJsonNumber, type NanoUsd } from "../../../kernel/money.ts";
import type { Usage } from "../../models/model.ts";
import { type WholeAnswer, FinishReason } from "../../providers/provider.ts";

// Token counts

const tokens = (description: string) => Type.Integer({ minimum: 0, description });

export const UsageBody = Type.Object({
  prompt_tokens: tokens("Tokens of the request"),
  completion_tokens: tokens("Tokens of the answer, including its reasoning"),
  total_tokens: tokens("Tokens of request and answer together"),
  prompt_tokens_details: Type.Object(
    {
      cached_tokens: tokens("Request tokens that were read from the provider's cache"),
      cache_write_tokens: tokens("Request tokens that were written to the provider's cache"),
    },
    { description: "Parts of the request's tokens" },
  ),
  completion_tokens_details: Type.Object(
    { reasoning_tokens: tokens("Answer tokens that were spent on reasoning") },
    { description: "Parts of the answer's tokens" },
  ),
  cost: Type.Optional(
    Type.Number({ minimum: 0, description: "The charge in USD, if the request or the workspace wants it", "x-addition": true }),
  ),
  cost_details: Type.Optional(
    Type.Object(
      { cost_usd: Type.String({ description: "The charge in USD with nine decimals" }) },
      { description: "The charge as an exact text, besides `cost`", "x-addition": true },
    ),
  ),
});
export type UsageBody = Static<typeof UsageBody>;

/** The charged usage, with the charge if the answer shows it. */
export interface BilledUsage extends Usage {
  cost?: NanoUsd;
}

export function usageBody(usage: BilledUsage): UsageBody {
  const body = {
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    total_tokens: usage.promptTokens + usage.completionTokens,
    prompt_tokens_details: { cached_tokens: usage.cachedTokens, cache_write_tokens: usage.cacheWriteTokens },
    completion_tokens_details: { reasoning_tokens: usage.reasoningTokens },
  };
  if (usage.cost === undefined) return body;
  return { ...body, cost: usdAsJsonNumber(usage.cost), cost_details: { cost_usd: formatUsd(usage.cost) } };
}

/** `usageBody` as JSON. Written field by field if it has only numbers, which is faster than making the object first. */
export function usageText(usage: BilledUsage): string {
  if (usage.cost !== undefined) return JSON.stringify(usageBody(usage));
  const { promptTokens, completionTokens, cachedTokens, cacheWriteTokens, reasoningTokens } = usage;
  return (
    `{"prompt_tokens":${promptTokens},"completion_tokens":${completionTokens},"total_tokens":${promptTokens + completionTokens},` +
    `"prompt_tokens_details":{"cached_tokens":${cachedTokens},"cache_write_tokens":${cacheWriteTokens}},` +
    `"completion_tokens_details":{"reasoning_tokens":${reasoningTokens}}}`
  );
}

// Log probabilities. SDKs read both lists and every part of a token, so fields that a provider omits are filled in.

const alternativeFields = {
  token: Type.String({ description: "The token's text" }),
  logprob: Type.Number({ description: "Natural logarithm of its probability" }),
  bytes: Type.Union([Type.Array(Type.Integer()), Type.Null()], {
    description: "The token in UTF-8; null if the provider does not send it",
  }),
};
const Alternative = Type.Object(alternativeFields);
type Alternative = Static<typeof Alternative>;

const TokenLogprob = Type.Object({
  ...alternativeFields,
  top_logprobs: Type.Array(Alternative, { description: "The likeliest tokens at this position" }),
});
type TokenLogprob = Static<typeof TokenLogprob>;

const tokensOf = (description: string) => Type.Union([Type.Array(TokenLogprob), Type.Null()], { description });

export const Logprobs = Type.Object({
  content: tokensOf("The probabilities of the answer's text, token by token"),
  refusal: tokensOf("The probabilities of the refusal's text, token by token"),
});
export type Logprobs = Static<typeof Logprobs>;

/** null: the provider sent none. */
export function logprobsBody(reported: unknown): Logprobs | null {
  if (!isJsonObject(reported)) return null;
  const logprobs = { content: tokenLogprobs(reported["content"]), refusal: tokenLogprobs(reported["refusal"]) };
  return logprobs.content?.length || logprobs.refusal?.length ? logprobs : null;
}

function tokenLogprobs(reported: unknown): TokenLogprob[] | null {
  if (!Array.isArray(reported)) return null;
  return reported.filter(isJsonObject).map((one) => {
    const others: unknown[] = Array.isArray(one["top_logprobs"]) ? one["top_logprobs"] : [];
    return { ...alternative(one), top_logprobs: others.filter(isJsonObject).map(alternative) };
  });
}

function alternative(reported: Record<string, unknown>): Alternative {
  const { token, logprob, bytes } = reported;
  return {
    token: typeof token === "string" ? token : "",
    logprob: typeof logprob === "number" ? logprob : 0,
    bytes: Array.isArray(bytes) && bytes.every(isWhole) ? bytes : null,
  };
}

function isWhole(byte: unknown): byte is number {
  return Number.isInteger(byte);
}

// Messages and their deltas

const name = Type.String({ description: "Name of the function" });
const callArguments = Type.String({ description: "The arguments as a JSON text, as the model wrote it" });
const customName = Type.String({ description: "Name of the custom tool" });
const customInput = Type.String({ description: "The input as the model wrote it" });
const callId = Type.String({ description: "Id of the call; send it back unchanged as `tool_call_id` with the tool's result" });

const FunctionCall = Type.Object({ name, arguments: callArguments });
const CustomCall = Type.Object({ name: customName, input: customInput });
const toolKind = <Word extends string>(word: Word) => Type.Literal(word, { description: "The kind of tool that is called" });

const ToolCall = Type.Union([
  Type.Object({
    id: callId,
    type: toolKind("function"),
    function: Type.Object(FunctionCall.properties, { description: "The function that is called" }),
  }),
  Type.Object({
    id: callId,
    type: toolKind("custom"),
    custom: Type.Object(CustomCall.properties, { description: "The custom tool that is called" }),
  }),
]);

const Citation = Type.Object({
  type: Type.Literal("url_citation", { description: "The only kind" }),
  url_citation: Type.Object(
    {
      url: Type.String({ description: "Address of the page" }),
      title: Type.String({ description: "Title of the page" }),
      start_index: Type.Integer({ description: "Where the citation begins in the text, in characters" }),
      end_index: Type.Integer({ description: "Where the citation ends in the text, in characters" }),
    },
    { description: "A page that the text refers to" },
  ),
});

/** Fields that a message may have in addition to its text. */
const additionalFields = {
  annotations: Type.Optional(Type.Array(Citation, { description: "Pages that the text refers to" })),
  reasoning_content: Type.Optional(
    Type.String({ description: "The model's reasoning, if its provider sends it", "x-addition": true }),
  ),
};

const MessageBody = Type.Object({
  role: Type.Literal("assistant", { description: "The speaker" }),
  content: textOrNull("The text of the answer; null if the model only calls tools or refuses"),
  refusal: textOrNull("Why the model refuses, in its own words; null if it does not"),
  tool_calls: Type.Optional(Type.Array(ToolCall, { minItems: 1, description: "Calls of the tools that were sent" })),
  function_call: Type.Optional(
    Type.Object(FunctionCall.properties, { deprecated: true, description: "A call of one of `functions`" }),
  ),
  ...additionalFields,
});
type MessageBody = Static<typeof MessageBody>;

/**
 * Wire formats return only these fields, in the official form: test/wire checks that. Without text, calls and refusal the content is an
 * empty text, so that the client can send the message back: the official schema takes null only together with one of them.
 */
function messageBody(message: WholeAnswer["message"]): MessageBody {
  const { content, refusal, tool_calls, function_call } = message as MessageBody;
  if (content !== null || refusal !== null || tool_calls !== undefined || function_call !== undefined)
    return message as MessageBody;
  return { ...(message as MessageBody), content: "" };
}

const ToolCallPiece = Type.Object({
  index: Type.Integer({ minimum: 0, description: "The index of the call that this piece belongs to" }),
  id: Type.Optional(callId),
  type: Type.Optional(
    Type.Union([Type.Literal("function"), Type.Literal("custom")], { description: "The kind of tool that is called" }),
  ),
  function: Type.Optional(pieceOf(FunctionCall.properties, "A piece of a call of a function")),
  custom: Type.Optional(pieceOf(CustomCall.properties, "A piece of a call of a custom tool")),
});

/** The new piece since the previous chunk; texts are joined. */
export const DeltaBody = Type.Object({
  role: Type.Optional(Type.Literal("assistant", { description: "The speaker, in the first chunk" })),
  content: Type.Optional(textOrNull("More of the text")),
  refusal: Type.Optional(textOrNull("More of the refusal")),
  tool_calls: Type.Optional(Type.Array(ToolCallPiece, { minItems: 1, description: "More of the calls of tools" })),
  function_call: Type.Optional(pieceOf(FunctionCall.properties, "More of a call of one of `functions`")),
  ...additionalFields,
});

function pieceOf(properties: TProperties, description: string) {
  return Type.Partial(Type.Object(properties), { description });
}

// Whole answers

export interface CompletionFacts {
  /** The generation's id. */
  id: string;
  /** Unix seconds. */
  created: number;
  /** The id of the model that served. */
  model: string;
  usage: BilledUsage;
}

/** The fields that full answers and chunks share. */
export const commonAnswerFields = {
  id: Type.String({ pattern: "^gen-[a-z2-7]{26}$", description: "The generation's id, the same as in `X-Generation-Id`" }),
  created: Type.Integer({ description: "When the request was accepted, in Unix seconds" }),
  model: Type.String({ description: "The id of the model that served: with routing it may be another one than the requested" }),
};

const Choice = Type.Object({
  index: Type.Literal(0, { description: "There is one choice" }),
  message: Type.Object(MessageBody.properties, { description: "The model's message" }),
  logprobs: Type.Union([Logprobs, Type.Null()], { description: "Log probabilities, if requested" }),
  finish_reason: Type.Union([FinishReason], { description: "Why the answer ends" }),
});

export const CompletionBody = Type.Object({
  ...commonAnswerFields,
  object: Type.Literal("chat.completion", { description: "The kind of object" }),
  choices: Type.Array(Choice, { minItems: 1, maxItems: 1, description: "The answer" }),
  usage: Type.Object(UsageBody.properties, { description: "The charged usage" }),
});
export type CompletionBody = Static<typeof CompletionBody>;

/**
 * The body as JSON, by the schema above. Only what the model wrote goes through `JSON.stringify`: the rest is made of our own ids and
 * numbers, and writing it out costs half as much as making an object.
 */
export function completionText(
  { message, finishReason, logprobs: reported }: WholeAnswer,
  { id, created, model, usage }: CompletionFacts,
): string {
  const logprobs = logprobsBody(reported);
  return (
    `{"id":"${id}","object":"chat.completion","created":${created},"model":${JSON.stringify(model)},"choices":[{"index":0,` +
    `"message":${JSON.stringify(messageBody(message))},"logprobs":${logprobs === null ? "null" : JSON.stringify(logprobs)},` +
    `"finish_reason":"${finishReason}"}],"usage":${usageText(usage)}}`
  );
}
