/**
 * The fields that the official schema requires of an answer, and where it allows null: our own transcription of
 * CreateChatCompletionResponse, CreateChatCompletionStreamResponse, CreateCompletionResponse, CompletionUsage, Error and Model
 * (openai-openapi 2.3.0).
 * It is stricter in one point: fields that are not named here are forbidden.
 */
import { Type, type Static, type TProperties, type TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { errorTable } from "../../src/kernel/errors.ts";

export const Nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);
export const strict = <Properties extends TProperties>(properties: Properties) =>
  Type.Object(properties, { additionalProperties: false });

export const Count = Type.Integer({ minimum: 0 });
/** An upper bound that excludes milliseconds since 1970. */
export const UnixSeconds = Type.Integer({ minimum: 1_500_000_000, maximum: 9_999_999_999 });
const GenerationId = Type.String({ pattern: "^gen-[a-z2-7]{26}$" });
const Finish = Type.Union(
  (["stop", "length", "tool_calls", "content_filter", "function_call"] as const).map((reason) => Type.Literal(reason)),
);

const Usage = strict({
  prompt_tokens: Count,
  completion_tokens: Count,
  total_tokens: Count,
  prompt_tokens_details: strict({ cached_tokens: Count, cache_write_tokens: Count }),
  completion_tokens_details: strict({ reasoning_tokens: Count }),
});

const likely = { token: Type.String(), logprob: Type.Number(), bytes: Nullable(Type.Array(Type.Integer())) };
const TokenLogprob = strict({ ...likely, top_logprobs: Type.Array(strict(likely)) });
const Logprobs = strict({ content: Nullable(Type.Array(TokenLogprob)), refusal: Nullable(Type.Array(TokenLogprob)) });

const Citation = strict({
  type: Type.Literal("url_citation"),
  url_citation: Type.Object({ url: Type.String(), title: Type.String(), start_index: Count, end_index: Count }),
});
const Call = { id: Type.String({ minLength: 1 }) };
const FunctionCall = strict({ name: Type.String({ minLength: 1 }), arguments: Type.String() });
const ToolCall = Type.Union([
  strict({ ...Call, type: Type.Literal("function"), function: FunctionCall }),
  strict({ ...Call, type: Type.Literal("custom"), custom: strict({ name: Type.String(), input: Type.String() }) }),
]);

/** Weir's addition: the reasoning that several providers send, for clients that show it. */
const ours = { reasoning_content: Type.Optional(Type.String()) };

export const Completion = strict({
  id: GenerationId,
  object: Type.Literal("chat.completion"),
  created: UnixSeconds,
  model: Type.String(),
  choices: Type.Array(
    strict({
      index: Type.Literal(0),
      finish_reason: Finish,
      logprobs: Nullable(Logprobs),
      message: strict({
        role: Type.Literal("assistant"),
        content: Nullable(Type.String()),
        refusal: Nullable(Type.String()),
        annotations: Type.Optional(Type.Array(Citation)),
        function_call: Type.Optional(FunctionCall),
        tool_calls: Type.Optional(Type.Array(ToolCall, { minItems: 1 })),
        ...ours,
      }),
    }),
    { minItems: 1, maxItems: 1 },
  ),
  usage: Usage,
});
export type Completion = Static<typeof Completion>;

const ToolCallPiece = strict({
  index: Count,
  id: Type.Optional(Type.String({ minLength: 1 })),
  type: Type.Optional(Type.Union([Type.Literal("function"), Type.Literal("custom")])),
  function: Type.Optional(strict({ name: Type.Optional(Type.String()), arguments: Type.Optional(Type.String()) })),
  custom: Type.Optional(strict({ name: Type.Optional(Type.String()), input: Type.Optional(Type.String()) })),
});

const chunkHead = {
  id: GenerationId,
  object: Type.Literal("chat.completion.chunk"),
  created: UnixSeconds,
  model: Type.String(),
};

/** A chunk of an answer. */
export const Chunk = strict({
  ...chunkHead,
  choices: Type.Array(
    strict({
      index: Type.Literal(0),
      finish_reason: Nullable(Finish),
      logprobs: Nullable(Logprobs),
      delta: strict({
        role: Type.Optional(Type.Literal("assistant")),
        content: Type.Optional(Nullable(Type.String())),
        refusal: Type.Optional(Nullable(Type.String())),
        function_call: Type.Optional(strict({ name: Type.Optional(Type.String()), arguments: Type.Optional(Type.String()) })),
        tool_calls: Type.Optional(Type.Array(ToolCallPiece, { minItems: 1 })),
        annotations: Type.Optional(Type.Array(Citation)),
        ...ours,
      }),
    }),
    { minItems: 1, maxItems: 1 },
  ),
  /** Null when the usage chunk was requested, else absent. */
  usage: Type.Optional(Type.Null()),
});
export type Chunk = Static<typeof Chunk>;

/** The last chunk before [DONE], when it was requested. */
export const UsageChunk = strict({ ...chunkHead, choices: Type.Array(Type.Never(), { maxItems: 0 }), usage: Usage });
export type UsageChunk = Static<typeof UsageChunk>;

const textHead = { ...chunkHead, object: Type.Literal("text_completion") };
const textChoice = { text: Type.String(), index: Type.Literal(0), logprobs: Type.Null() };
const TextFinish = Type.Union((["stop", "length", "content_filter"] as const).map((reason) => Type.Literal(reason)));
const oneChoice = { minItems: 1, maxItems: 1 };

export const TextCompletion = strict({
  ...textHead,
  choices: Type.Array(strict({ ...textChoice, finish_reason: TextFinish }), oneChoice),
  usage: Usage,
});
export type TextCompletion = Static<typeof TextCompletion>;

/** A chunk of a completion: the same object, whose reason is null until the last one. */
export const TextChunk = strict({
  ...textHead,
  choices: Type.Array(strict({ ...textChoice, finish_reason: Nullable(TextFinish) }), oneChoice),
  usage: Type.Optional(Type.Null()),
});
export type TextChunk = Static<typeof TextChunk>;

export const TextUsageChunk = strict({ ...textHead, choices: Type.Array(Type.Never(), { maxItems: 0 }), usage: Usage });

export const ErrorBody = strict({
  error: strict({
    message: Type.String({ minLength: 1 }),
    type: Type.Union([...new Set(Object.values(errorTable).map(({ type }) => type))].map((type) => Type.Literal(type))),
    code: Type.Union(Object.keys(errorTable).map((code) => Type.Literal(code))),
    param: Nullable(Type.String({ minLength: 1 })),
  }),
});
export type ErrorBody = Static<typeof ErrorBody>;

/** The four official fields of a model. Weir adds others. */
export const OfficialModel = Type.Object({
  id: Type.String({ minLength: 1 }),
  object: Type.Literal("model"),
  created: Type.Integer({ minimum: 0 }),
  owned_by: Type.String({ minLength: 1 }),
});
export type OfficialModel = Static<typeof OfficialModel>;

/** @throws Error with every path at which the value does not match the schema */
export function conforming<Schema extends TSchema>(schema: Schema, value: unknown): Static<Schema> {
  if (Value.Check(schema, value)) return value;
  const problems = [...Value.Errors(schema, value)].map(({ path, message }) => `${path}: ${message}`);
  throw new Error(`${problems.join("; ")} in ${JSON.stringify(value)}`);
}
