/**
 * A response and the events of its stream, as openai-openapi has them: our own transcription of the part that Weir writes. The compiler
 * holds it against the types of the official package (openai 7.55), which are made from that schema. It is stricter in one point: fields
 * that are not named here are forbidden, and those of Weir are named as ours.
 */
import { Type, type Static, type TProperties, type TSchema, type TUnsafe } from "@sinclair/typebox";
import type OpenAI from "openai";
import type { JsonObject as Json } from "../../../src/http/json.ts";
import { conforming, Count, Nullable, strict, UnixSeconds } from "../schemas.ts";

function words<const Word extends string>(...list: Word[]): TUnsafe<Word> {
  return Type.Unsafe<Word>(Type.Union(list.map((word) => Type.Literal(word))));
}
const Text = Type.String();
const Name = Type.String({ minLength: 1 });
const AnyObject = Type.Record(Type.String(), Type.Unknown());
const absent = <Schema extends TSchema>(schema: Schema) => Type.Optional(schema);

// Items

const Token = { token: Text, logprob: Type.Number(), bytes: Type.Array(Type.Integer()) };
const TextLogprobs = Type.Array(strict({ ...Token, top_logprobs: Type.Array(strict(Token)) }));
const Part = Type.Union([
  strict({ type: Type.Literal("output_text"), text: Text, annotations: Type.Array(Type.Never()), logprobs: TextLogprobs }),
  strict({ type: Type.Literal("refusal"), refusal: Text }),
]);
const Summary = strict({ type: Type.Literal("summary_text"), text: Text });
const id = (prefix: string) => Type.String({ pattern: `^${prefix}_[a-z2-7]{26}_\\d+$` });
const status = words("in_progress", "completed", "incomplete");
const named = { call_id: Name, name: Text, namespace: absent(Name) };

export const ResponseItem = Type.Union([
  strict({ id: id("rs"), type: Type.Literal("reasoning"), summary: Type.Array(Summary), encrypted_content: absent(Text) }),
  strict({ id: id("msg"), type: Type.Literal("message"), status, role: Type.Literal("assistant"), content: Type.Array(Part) }),
  strict({ id: id("fc"), type: Type.Literal("function_call"), status, ...named, arguments: Text }),
  // `status` is ours: other calls have one.
  strict({ id: id("ctc"), type: Type.Literal("custom_tool_call"), status, ...named, input: Text }),
  strict({
    id: id("tsc"),
    type: Type.Literal("tool_search_call"),
    status,
    call_id: Name,
    execution: Type.Literal("client"),
    arguments: Type.Unknown(),
  }),
]);

// What an answer repeats

const toolUse = { name: Name, defer_loading: absent(Type.Boolean()) };
const Format = Type.Union([
  strict({ type: Type.Literal("text") }),
  strict({ type: Type.Literal("grammar"), definition: Text, syntax: words("lark", "regex") }),
]);
const Custom = strict({ type: Type.Literal("custom"), ...toolUse, description: absent(Text), format: absent(Format) });
const called = { description: absent(Nullable(Text)), parameters: Nullable(AnyObject), strict: Nullable(Type.Boolean()) };
const Tool = Type.Union([
  strict({ type: Type.Literal("function"), ...toolUse, ...called }),
  Custom,
  strict({
    type: Type.Literal("namespace"),
    name: Name,
    description: Text,
    tools: Type.Array(
      Type.Union([
        strict({
          type: Type.Literal("function"),
          ...toolUse,
          description: called.description,
          parameters: absent(called.parameters),
          strict: absent(called.strict),
        }),
        Custom,
      ]),
    ),
  }),
  strict({
    type: Type.Literal("tool_search"),
    execution: absent(Type.Literal("client")),
    description: absent(Text),
    parameters: absent(AnyObject),
  }),
]);
const Choice = Type.Union([
  words("none", "auto", "required"),
  strict({ type: Type.Literal("function"), name: Name }),
  strict({ type: Type.Literal("custom"), name: Name }),
  strict({ type: Type.Literal("allowed_tools"), mode: words("auto", "required"), tools: Type.Array(AnyObject) }),
]);
const TextConfig = strict({
  verbosity: absent(words("low", "medium", "high")),
  format: Type.Union([
    strict({ type: words("text") }),
    strict({ type: words("json_object") }),
    strict({
      type: Type.Literal("json_schema"),
      name: Name,
      schema: AnyObject,
      description: absent(Text),
      strict: absent(Type.Boolean()),
    }),
  ]),
});
const Reasoning = strict({
  effort: Nullable(words("none", "minimal", "low", "medium", "high", "xhigh", "max")),
  summary: Nullable(words("auto", "concise", "detailed")),
  generate_summary: absent(words("auto", "concise", "detailed")),
  context: absent(words("auto", "current_turn", "all_turns")),
  mode: absent(Type.Literal("standard")),
});

// The response

const ResponseUsage = strict({
  input_tokens: Count,
  input_tokens_details: strict({ cached_tokens: Count, cache_write_tokens: Count }),
  output_tokens: Count,
  output_tokens_details: strict({ reasoning_tokens: Count }),
  total_tokens: Count,
  // Ours, where the request or the workspace asks for it.
  cost: absent(Type.Number()),
  cost_details: absent(strict({ cost_usd: Text })),
});

const always = {
  id: Type.String({ pattern: "^resp_[a-z2-7]{26}$" }),
  object: Type.Literal("response"),
  created_at: UnixSeconds,
  model: Name,
  access_programs: Type.Null(),
  metadata: Type.Record(Type.String(), Type.String()),
  parallel_tool_calls: Type.Boolean(),
  temperature: Nullable(Type.Number()),
  top_p: Nullable(Type.Number()),
  top_logprobs: Count,
  tool_choice: Choice,
  text: TextConfig,
  reasoning: Reasoning,
  max_output_tokens: Nullable(Count),
  previous_response_id: Type.Null(),
  store: Type.Literal(false),
  background: Type.Literal(false),
  truncation: Type.Literal("disabled"),
  service_tier: Type.Literal("default"),
};
const whole = {
  ...always,
  output: Type.Array(ResponseItem),
  instructions: Nullable(Text),
  tools: Type.Array(Tool),
  usage: ResponseUsage,
};
const none = { error: Type.Null(), incomplete_details: Type.Null(), completed_at: Type.Null() };

/** By how it ended. */
const ended = {
  completed: strict({ ...whole, ...none, status: Type.Literal("completed"), completed_at: UnixSeconds }),
  incomplete: strict({
    ...whole,
    ...none,
    status: Type.Literal("incomplete"),
    incomplete_details: strict({ reason: words("max_output_tokens", "content_filter") }),
  }),
  failed: strict({
    ...whole,
    ...none,
    status: Type.Literal("failed"),
    error: strict({ code: words("server_error", "rate_limit_exceeded", "invalid_prompt"), message: Name }),
  }),
};
const Begun = strict({
  ...always,
  ...none,
  status: Type.Literal("in_progress"),
  output: Type.Array(Type.Never(), { maxItems: 0 }),
  instructions: Type.Null(),
  tools: Type.Array(Type.Never(), { maxItems: 0 }),
});
export const WholeResponse = Type.Union([ended.completed, ended.incomplete]);

// Events

function event<Word extends string, Properties extends TProperties>(word: Word, properties: Properties) {
  return strict({ type: Type.Literal(`response.${word}`), sequence_number: Count, ...properties });
}

const inItem = { item_id: Name, output_index: Count };
const inMessage = { ...inItem, content_index: Count };
const inSummary = { ...inItem, summary_index: Count };

const Lifecycle = Type.Union([
  event("created", { response: Begun }),
  event("in_progress", { response: Begun }),
  event("completed", { response: ended.completed }),
  event("incomplete", { response: ended.incomplete }),
  event("failed", { response: ended.failed }),
]);
const OfItems = Type.Union([
  event("output_item.added", { output_index: Count, item: ResponseItem }),
  event("output_item.done", { output_index: Count, item: ResponseItem }),
  event("content_part.added", { ...inMessage, part: Part }),
  event("content_part.done", { ...inMessage, part: Part }),
  event("output_text.delta", { ...inMessage, delta: Name, logprobs: TextLogprobs }),
  event("output_text.done", { ...inMessage, text: Text, logprobs: TextLogprobs }),
  event("refusal.delta", { ...inMessage, delta: Name }),
  event("refusal.done", { ...inMessage, refusal: Text }),
  event("function_call_arguments.delta", { ...inItem, delta: Name }),
  // `name` is ours.
  event("function_call_arguments.done", { ...inItem, name: Text, arguments: Text }),
  event("custom_tool_call_input.delta", { ...inItem, delta: Name }),
  event("custom_tool_call_input.done", { ...inItem, input: Text }),
  event("reasoning_summary_part.added", { ...inSummary, part: Summary }),
  event("reasoning_summary_part.done", { ...inSummary, part: Summary }),
  event("reasoning_summary_text.delta", { ...inSummary, delta: Name }),
  event("reasoning_summary_text.done", { ...inSummary, text: Text }),
]);
const StreamedEvent = Type.Union([...Lifecycle.anyOf, ...OfItems.anyOf]);
export type StreamedEvent = Static<typeof StreamedEvent>;

/** Every kind of event that a stream can have. */
export const eventTypes: readonly string[] = StreamedEvent.anyOf.map(({ properties }) => properties.type.const);

/**
 * Two values differ from the schema as the service itself does: the counts before the end are null, and a prompt that is too long has a
 * code of its own, which agents act on.
 * @throws Error with every path at which the event does not match the schema
 */
export function conformingEvent(sent: Json): StreamedEvent {
  const { response } = sent as { response?: Json };
  if (response === undefined) return conforming(StreamedEvent, sent);
  const { usage, error, ...others } = response as { usage: unknown; error: { code: string } | null };
  const code = error?.code === "context_length_exceeded" ? "invalid_prompt" : error?.code;
  const known = { ...others, error: error && { ...error, code }, ...(usage !== null && { usage }) };
  return conforming(StreamedEvent, { ...sent, response: known });
}

// The compiler checks that what is valid here is assignable to the package's types. `output_text` is the package's own addition.

export function officialWholeResponse(response: Static<typeof WholeResponse>): Omit<OpenAI.Responses.Response, "output_text"> {
  return response;
}

type Official = OpenAI.Responses.ResponseStreamEvent;
type OfLifecycle = Omit<Extract<Official, { response: OpenAI.Responses.Response }>, "response"> & {
  response: Omit<OpenAI.Responses.Response, "output_text">;
};

export function officialEvent(sent: StreamedEvent): Official | OfLifecycle {
  return sent;
}
