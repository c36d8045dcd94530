/** Answers of a provider stub for Anthropic's Messages API: bodies and events in their documented structure. */
import { json, rawStream, type StubAnswer } from "./stub-answers.ts";

export type Thought = { type: "thinking"; thinking: string; signature: string } | { type: "redacted_thinking"; data: string };

interface Call {
  id: string;
  name: string;
  input: object;
}

export interface MessageOptions {
  /** Blocks of thinking before the text: a summary with its signature, or encrypted data. */
  thoughts?: Thought[];
  /** Tool calls after the text. */
  calls?: Call[];
  stop?: string;
  /** Pieces of a stream. Default: the words of the text. */
  pieces?: string[];
  usage?: Record<string, unknown>;
}

/** A good answer, whole or streamed as the call requests, with 10 input and 5 output tokens by default. */
export function message(text: string, options: MessageOptions = {}): StubAnswer {
  const whole = json(messageBody(text, options));
  const streamed = rawStream(...messageEvents(text, options).map(event));
  return (response, call) => (call.streamed ? streamed : whole)(response, call);
}

/** An error with its own status. */
export function refusal(status: number, type: string, words = "The stub fails as configured"): StubAnswer {
  return json(errorBody(type, words), status);
}

/** A stream with status 200 that fails: at once, after its start, or after pieces of text. */
export function failingStream(
  type: string,
  { started = false, pieces = [] as string[], words = "The stub fails" } = {},
): StubAnswer {
  const begun = started || pieces.length > 0 ? [startEvent({ input_tokens: 10, output_tokens: 1 })] : [];
  return rawStream(...[...begun, ...textEvents(pieces, 0).slice(0, -1), errorBody(type, words)].map(event));
}

/** One server-sent event on the wire. */
export function event(value: Record<string, unknown>): string {
  return `event: ${String(value["type"])}\ndata: ${JSON.stringify(value)}\n\n`;
}

export function messageEvents(
  text: string,
  { calls = [], thoughts = [], ...options }: MessageOptions = {},
): Record<string, unknown>[] {
  const usage = options.usage ?? { input_tokens: 10, output_tokens: 5 };
  const pieces = options.pieces ?? text.match(/\S+\s*|\s+/g) ?? [];
  const texts = text === "" ? [] : textEvents(pieces, thoughts.length);
  const before = thoughts.length + (text === "" ? 0 : 1);
  const delta = { stop_reason: stopOf(options.stop, calls), stop_sequence: null };
  return [
    startEvent({ ...usage, output_tokens: 1 }),
    { type: "ping" },
    ...thoughts.flatMap(thoughtEvents),
    ...texts,
    ...calls.flatMap((call, index) => callEvents(call, index + before)),
    { type: "message_delta", delta, usage: { output_tokens: usage["output_tokens"] } },
    { type: "message_stop" },
  ];
}

/** The events of these blocks in their order, whatever it is. */
export function blockEvents(
  blocks: readonly Record<string, unknown>[],
  stop: Record<string, unknown> = {},
): Record<string, unknown>[] {
  const all = blocks.flatMap((one, index) => {
    if (one["type"] === "text") return textEvents([String(one["text"])], index);
    return one["type"] === "tool_use" ? callEvents(one as unknown as Call, index) : thoughtEvents(one as Thought, index);
  });
  return [
    startEvent({ input_tokens: 10, output_tokens: 1 }),
    { type: "ping" },
    ...all,
    { type: "message_delta", delta: { stop_reason: "tool_use", ...stop }, usage: { output_tokens: 5 } },
    { type: "message_stop" },
  ];
}

/** An answer of these blocks, whole or streamed as the call requests. */
export function blockMessage(blocks: readonly Record<string, unknown>[], stop: Record<string, unknown> = {}): StubAnswer {
  const usage = { input_tokens: 10, output_tokens: 5 };
  const whole = json({ ...head, content: blocks, stop_reason: "tool_use", ...stop, usage });
  const streamed = rawStream(...blockEvents(blocks, stop).map(event));
  return (response, call) => (call.streamed ? streamed : whole)(response, call);
}

function messageBody(text: string, { calls = [], thoughts = [], stop, usage }: MessageOptions): Record<string, unknown> {
  const blocks = calls.map((call) => ({ type: "tool_use", ...call }));
  return {
    ...head,
    content: [...thoughts, ...(text === "" ? [] : [{ type: "text", text }]), ...blocks],
    stop_reason: stopOf(stop, calls),
    usage: usage ?? { input_tokens: 10, output_tokens: 5 },
  };
}

const head = { id: "msg_01Stub", type: "message", role: "assistant", model: "stub-model", content: [], stop_reason: null };

function startEvent(usage: Record<string, unknown>): Record<string, unknown> {
  return { type: "message_start", message: { ...head, usage } };
}

function textEvents(pieces: string[], index: number): Record<string, unknown>[] {
  const deltas = pieces.map((text) => ({ type: "content_block_delta", index, delta: { type: "text_delta", text } }));
  return block(index, { type: "text", text: "" }, deltas);
}

/** The summary and then the signature, each in pieces; encrypted data comes whole. */
function thoughtEvents(thought: Thought, index: number): Record<string, unknown>[] {
  if (thought.type === "redacted_thinking") return block(index, thought, []);
  const pieces = (field: "thinking" | "signature") =>
    (thought[field].match(/.{1,7}/gs) ?? [""]).map((piece) => ({
      type: "content_block_delta",
      index,
      delta: { type: `${field}_delta`, [field]: piece },
    }));
  return block(index, { type: "thinking", thinking: "", signature: "" }, [...pieces("thinking"), ...pieces("signature")]);
}

/** The input in pieces of seven characters, the first one empty, as the API sends it. */
function callEvents({ id, name, input }: Call, index: number): Record<string, unknown>[] {
  const pieces = Object.keys(input).length === 0 ? [""] : ["", ...(JSON.stringify(input).match(/.{1,7}/gs) ?? [])];
  const deltas = pieces.map((partial_json) => ({
    type: "content_block_delta",
    index,
    delta: { type: "input_json_delta", partial_json },
  }));
  return block(index, { type: "tool_use", id, name, input: {} }, deltas);
}

function block(index: number, content_block: object, deltas: Record<string, unknown>[]): Record<string, unknown>[] {
  return [{ type: "content_block_start", index, content_block }, ...deltas, { type: "content_block_stop", index }];
}

function stopOf(stop: string | undefined, calls: unknown[]): string {
  return stop ?? (calls.length > 0 ? "tool_use" : "end_turn");
}

function errorBody(type: string, words: string): Record<string, unknown> {
  return { type: "error", error: { type, message: words }, request_id: "req_011Stub" };
}
