/**
 * The wire formats as a model's voices: what came back in a conversation, and how an answer is said, whole or by events. Every format thinks
 * before it calls tools; all but chat completions sign their thoughts, and a model can then refuse a conversation that lost one.
 */
import { event } from "../support/providers/anthropic-answers.ts";
import { googleUsage } from "../support/providers/google-answers.ts";
import { responseUsage } from "../support/providers/responses-answers.ts";
import { chunk, completion, usageOf } from "../support/providers/stub-answers.ts";

export type Json = Record<string, unknown>;

/** What came back, in the conversation's order. */
export type Item =
  | { kind: "question"; text: string }
  | { kind: "thought"; text: unknown; signature?: unknown }
  | { kind: "call"; id: unknown; name: string; input: Json }
  | { kind: "result"; id: unknown; text: string };

export interface Call {
  id: string;
  name: string;
  /** Of a custom tool: `{input}`, its text. */
  input: Json;
}

export interface Said {
  /** The pieces of the thought before the calls. */
  thoughts: readonly string[];
  calls: readonly Call[];
  /** The pieces of the text. */
  pieces: readonly string[];
  usage: { input: number; output: number };
}

export interface Voice {
  /** Thoughts have signatures, without which the model refuses its calls. */
  signs: boolean;
  /** The names of the tools that the request offers. */
  tools(body: Json): string[];
  read(body: Json): Item[];
  say(said: Said, body: Json): { whole: Json; events: string[] };
}

/** Base64, as every format has it. */
const signature = "c2lnbmVkIHRob3VnaHQ=";

const openai: Voice = {
  signs: false,
  tools: ({ tools }) => objects(tools).map((tool) => String(object(tool["function"])["name"])),
  read: ({ messages }) => objects(messages).flatMap(ofOpenai),
  say({ thoughts, calls, pieces, usage }) {
    const made = calls.map(({ id, name, input }) => ({
      id,
      type: "function",
      function: { name, arguments: JSON.stringify(input) },
    }));
    const finish = calls.length > 0 ? "tool_calls" : "stop";
    const counted = usageOf(usage.input, usage.output);
    const message = {
      role: "assistant",
      content: pieces.join("") || null,
      ...(thoughts.length > 0 && { reasoning_content: thoughts.join("") }),
      ...(calls.length > 0 && { tool_calls: made }),
    };
    const chunks = [
      chunk({ role: "assistant", content: "" }),
      ...thoughts.map((text) => chunk({ reasoning_content: text })),
      ...made.flatMap(({ id, type, function: { name, arguments: written } }, index) => [
        chunk({ tool_calls: [{ index, id, type, function: { name, arguments: "" } }] }),
        chunk({ tool_calls: [{ index, function: { arguments: written.slice(0, 5) } }] }),
        chunk({ tool_calls: [{ index, function: { arguments: written.slice(5) } }] }),
      ]),
      ...pieces.map((content) => chunk({ content })),
      { ...chunk({}, finish), usage: counted },
    ];
    return { whole: { ...completion(message, finish), usage: counted }, events: [...chunks.map(data), "data: [DONE]\n\n"] };
  },
};

function ofOpenai({ role, content, reasoning_content: text, tool_calls, tool_call_id: id }: Json): Item[] {
  if (role === "user") return questionsIn(content);
  if (role === "tool") return [{ kind: "result", id, text: textOf(content) }];
  const calls = objects(tool_calls).map((call): Item => {
    const { name, arguments: written } = object(call["function"]);
    return { kind: "call", id: call["id"], name: String(name), input: object(JSON.parse(String(written))) };
  });
  return text === undefined ? calls : [{ kind: "thought", text }, ...calls];
}

const anthropic: Voice = {
  signs: true,
  tools: ({ tools }) => objects(tools).map(({ name }) => String(name)),
  read: ({ messages }) =>
    objects(messages).flatMap(({ role, content }) =>
      role === "user" ? spokenTo(content) : objects(content).flatMap(ofAnthropic),
    ),
  say({ thoughts, calls, pieces, usage }) {
    const blocks = [
      ...(thoughts.length > 0 ? [thinkingBlock(thoughts)] : []),
      ...calls.map(({ id, name, input }) => ({
        whole: { type: "tool_use", id, name, input },
        start: { type: "tool_use", id, name, input: {} },
        deltas: ["", JSON.stringify(input)].map((partial_json) => ({ type: "input_json_delta", partial_json })),
      })),
      ...(pieces.length > 0 ? [textBlock(pieces)] : []),
    ];
    const message = { id: "msg_01Thinking", type: "message", role: "assistant", model: "stub-model" };
    const stop = { stop_reason: calls.length > 0 ? "tool_use" : "end_turn", stop_sequence: null };
    const counted = { input_tokens: usage.input, output_tokens: usage.output };
    const begun = { ...message, content: [], stop_reason: null, usage: { ...counted, output_tokens: 1 } };
    const events = [
      { type: "message_start", message: begun },
      ...blocks.flatMap(({ start, deltas }, index) => [
        { type: "content_block_start", index, content_block: start },
        ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
        { type: "content_block_stop", index },
      ]),
      { type: "message_delta", delta: stop, usage: counted },
      { type: "message_stop" },
    ];
    const whole = { ...message, ...stop, content: blocks.map((block) => block.whole), usage: counted };
    return { whole, events: events.map(event) };
  },
};

function thinkingBlock(thoughts: readonly string[]) {
  return {
    whole: { type: "thinking", thinking: thoughts.join(""), signature },
    start: { type: "thinking", thinking: "", signature: "" },
    deltas: [...thoughts.map((thinking): Json => ({ type: "thinking_delta", thinking })), { type: "signature_delta", signature }],
  };
}

function textBlock(pieces: readonly string[]) {
  return {
    whole: { type: "text", text: pieces.join("") },
    start: { type: "text", text: "" },
    deltas: pieces.map((text): Json => ({ type: "text_delta", text })),
  };
}

function spokenTo(content: unknown): Item[] {
  if (typeof content === "string") return questionsIn(content);
  return objects(content).map(({ type, text, tool_use_id: id, content: result }): Item =>
    type === "tool_result" ? { kind: "result", id, text: textOf(result) } : { kind: "question", text: String(text) },
  );
}

function ofAnthropic({ type, thinking, signature: signed, id, name, input }: Json): Item[] {
  if (type === "thinking") return [{ kind: "thought", text: thinking, signature: signed }];
  return type === "tool_use" ? [{ kind: "call", id, name: String(name), input: object(input) }] : [];
}

/** Its calls have no ids, and only the first of them has the signature. */
const google: Voice = {
  signs: true,
  tools: ({ tools }) =>
    objects(tools)
      .flatMap(({ functionDeclarations }) => objects(functionDeclarations))
      .map(({ name }) => String(name)),
  read: ({ contents }) => objects(contents).flatMap(({ role, parts }) => objects(parts).flatMap((part) => ofGoogle(role, part))),
  say({ thoughts, calls, pieces, usage }) {
    const parts = [
      ...thoughts.map((text): Json => ({ text, thought: true })),
      ...calls.map(({ name, input }, index) => ({
        functionCall: { name, args: input },
        ...(index === 0 && thoughts.length > 0 && { thoughtSignature: signature }),
      })),
      ...pieces.map((text) => ({ text })),
    ];
    const counted = googleUsage(usage.input, usage.output);
    const tail = { usageMetadata: counted, modelVersion: "stub-model", responseId: crypto.randomUUID() };
    const answer = (some: Json[], finish: string | null) => ({
      candidates: [{ content: { parts: some, role: "model" }, ...(finish !== null && { finishReason: finish }), index: 0 }],
      ...tail,
    });
    const events = parts.map((part, index) => data(answer([part], index === parts.length - 1 ? "STOP" : null)));
    return { whole: answer(parts, "STOP"), events };
  },
};

function ofGoogle(role: unknown, { text, functionCall, functionResponse, thoughtSignature }: Json): Item[] {
  const answered = object(functionResponse);
  if (functionResponse !== undefined) {
    return [{ kind: "result", id: answered["id"], text: String(object(answered["response"])["output"]) }];
  }
  if (role === "user") return [{ kind: "question", text: String(text) }];
  const called = object(functionCall);
  const signed: Item[] = thoughtSignature === undefined ? [] : [{ kind: "thought", text, signature: thoughtSignature }];
  if (functionCall === undefined) return signed;
  return [...signed, { kind: "call", id: called["id"], name: String(called["name"]), input: object(called["args"]) }];
}

const openaiResponses: Voice = {
  signs: true,
  tools: ({ tools }) => objects(tools).map(({ name }) => String(name)),
  read: ({ input }) => objects(input).flatMap(ofResponses),
  say({ thoughts, calls, pieces, usage }, { tools }) {
    const custom = objects(tools).flatMap(({ type, name }) => (type === "custom" ? [name] : []));
    const items: Json[] = [
      ...(thoughts.length > 0
        ? [{ id: "rs_1", type: "reasoning", summary: [summary(thoughts.join(""))], encrypted_content: signature }]
        : []),
      ...calls.map(({ id, name, input }, index) => ({
        id: `${custom.includes(name) ? "ctc" : "fc"}_${index}`,
        status: "completed",
        call_id: id,
        name,
        ...(custom.includes(name)
          ? { type: "custom_tool_call", input: input["input"] }
          : { type: "function_call", arguments: JSON.stringify(input) }),
      })),
      ...(pieces.length > 0
        ? [{ id: "msg_1", type: "message", role: "assistant", status: "completed", content: [said(pieces)] }]
        : []),
    ];
    const whole = {
      id: "resp_0Thinking",
      object: "response",
      status: "completed",
      error: null,
      output: items,
      usage: responseUsage(usage.input, usage.output, { reasoning: thoughts.length > 0 ? 10 : 0 }),
    };
    const begun = { ...whole, status: "in_progress", output: [], usage: null };
    const events = [
      { type: "response.created", response: begun },
      ...items.flatMap((item, output_index) => [
        { type: "response.output_item.added", output_index, item: { ...item, ...empty(item) } },
        ...piecesOf(item, { thoughts, pieces }).map((piece) => ({ item_id: item["id"], output_index, ...piece })),
        { type: "response.output_item.done", output_index, item },
      ]),
      { type: "response.completed", response: whole },
    ];
    return { whole, events: events.map((one, sequence_number) => event({ ...one, sequence_number })) };
  },
};

const summary = (text: string): Json => ({ type: "summary_text", text });
const said = (pieces: readonly string[]): Json => ({
  type: "output_text",
  text: pieces.join(""),
  annotations: [],
  logprobs: [],
});

function empty({ type }: Json): Json {
  return { summary: [], content: [], arguments: "", ...(type === "custom_tool_call" && { input: "" }) };
}

function piecesOf({ type, arguments: written, input }: Json, { thoughts, pieces }: Pick<Said, "thoughts" | "pieces">): Json[] {
  if (type === "reasoning") {
    return thoughts.map((delta) => ({ type: "response.reasoning_summary_text.delta", summary_index: 0, delta }));
  }
  if (type === "function_call") return [{ type: "response.function_call_arguments.delta", delta: written }];
  if (type === "custom_tool_call") return [{ type: "response.custom_tool_call_input.delta", delta: input }];
  return pieces.map((delta) => ({ type: "response.output_text.delta", content_index: 0, delta, logprobs: [] }));
}

function ofResponses(item: Json): Item[] {
  const { role, type, content, call_id: id, name, arguments: written, input, output, encrypted_content } = item;
  if (role === "user") return questionsIn(content);
  if (type === "reasoning") return [{ kind: "thought", text: null, signature: encrypted_content }];
  if (type === "function_call") return [{ kind: "call", id, name: String(name), input: object(JSON.parse(String(written))) }];
  if (type === "custom_tool_call") return [{ kind: "call", id, name: String(name), input: { input } }];
  return String(type).endsWith("_call_output") ? [{ kind: "result", id, text: textOf(output) }] : [];
}

/** By the name of the format: those of the registry. */
export const voices: Readonly<Record<string, Voice>> = { openai, anthropic, google, "openai-responses": openaiResponses };

/** @param turn what came after the last question @returns the complaint of a model that signs its thoughts; null: it has none */
export function lostSignature(turn: readonly Item[], { signs }: Voice): string | null {
  const [first] = turn;
  if (!signs || first === undefined) return null;
  return first.kind === "thought" && first.signature === signature ? null : `a signature is lost: ${JSON.stringify(turn)}`;
}

/** @returns the complaint about results that do not belong to the calls, each to one; null: there is none */
export function wrongResults(items: readonly Item[]): string | null {
  const calls = items.filter((item) => item.kind === "call").map(({ id }) => id);
  const results = items.filter((item) => item.kind === "result").map(({ id }) => id);
  const isWhole = new Set(results).size === calls.length && results.every((id) => calls.includes(id));
  return isWhole && results.length === calls.length
    ? null
    : `${calls.length} calls have ${results.length} results: ${JSON.stringify(items)}`;
}

/** A text, or the texts of several parts. */
function questionsIn(content: unknown): Item[] {
  if (typeof content === "string") return [{ kind: "question", text: content }];
  return objects(content).map(({ text }): Item => ({ kind: "question", text: String(text) }));
}

function data(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

function textOf(content: unknown): string {
  return typeof content === "string"
    ? content
    : objects(content)
        .map(({ text }) => String(text))
        .join("");
}

function objects(value: unknown): Json[] {
  return Array.isArray(value) ? value.map(object) : [];
}

function object(value: unknown): Json {
  return typeof value === "object" && value !== null ? (value as Json) : {};
}
