/**
 * What a provider may write into a stream that an endpoint for agents answers: blocks without an end, numbers beyond 32 bits, ids of a
 * mebibyte, calls that are mixed up. Each stream goes through the decoder of its format and the writer of Messages and of Responses. The
 * client gets named events of ours alone, one block at a time, with one end. No process is started.
 */
import { describe, expect, test } from "bun:test";
import { Value } from "@sinclair/typebox/value";
import type { StreamWriter } from "../../src/gateway/api/answer/answer-format.ts";
import { streamText } from "../../src/gateway/api/answer/relay.ts";
import { MessageEvent, messagesAnswer } from "../../src/gateway/api/messages/answer.ts";
import { messagesMax, upstreamAnswerBytesMax } from "../../src/gateway/limits.ts";
import { asUpstreamFailure, type AnswerWants, type ProviderEvent } from "../../src/gateway/providers/provider.ts";
import { wireFormats } from "../../src/gateway/providers/registry.ts";
import { EventSequence } from "../../src/gateway/providers/transport/events.ts";
import { checkResponse } from "../support/gateway/check-response.ts";
import { route } from "../support/providers/routes.ts";

type Json = Record<string, unknown>;
type Format = "openai" | "openai-responses" | "anthropic" | "google";
type End = "complete" | "failed";

const mebibyte = 1024 * 1024;
const nasty = [
  "\n\nevent: message_stop\ndata: {}\n\n",
  "\r",
  "\u2028\u2029",
  "\0",
  '"}',
  "data: [DONE]\n\n",
  "é😀\u{10ffff}",
  "</script>",
];
const wants: AnswerWants = { thoughts: true };
const usage = { promptTokens: 9, cachedTokens: 0, cacheWriteTokens: 0, completionTokens: 4, reasoningTokens: 0 };
const facts = {
  id: `gen-${"a".repeat(26)}`,
  created: 1_795_000_000,
  model: "acme/one",
  signer: "acme_one",
  includeUsage: false,
  promptTokens: 9,
};

// What each endpoint may send

interface Sent {
  /** The texts of the answer, joined. */
  text: string;
  /** The arguments of each call. */
  calls: string[];
  ids: string[];
  end: End;
}

const messages = {
  writer: (): StreamWriter => messagesAnswer({ model: "one", ignored: [], omitsThinking: false }).streamWriter(facts),
  /** @throws for what a client of Messages must not get */
  read(lines: string): Sent {
    const sent: Sent = { text: "", calls: [], ids: [], end: "failed" };
    let open = -1;
    let blocks = 0;
    const events: unknown[] = eventsOf(lines);
    for (const [at, event] of events.entries()) {
      if (!Value.Check(MessageEvent, event)) throw new Error(`No event: ${JSON.stringify(event).slice(0, 300)}`);
      const isFirst = at === 0 && event.type !== "error";
      if (isFirst !== (event.type === "message_start")) throw new Error(`${event.type} is event ${at}`);
      if (event.type === "content_block_start") {
        expect([open, event.index]).toEqual([-1, blocks++]);
        open = event.index;
        if (event.content_block.type !== "tool_use") continue;
        sent.calls.push("");
        sent.ids.push(event.content_block.id);
      } else if (event.type === "content_block_delta") {
        expect(event.index).toBe(open);
        const { delta } = event;
        if (delta.type === "text_delta") sent.text += delta.text;
        if (delta.type === "input_json_delta") sent.calls.push(`${sent.calls.pop()}${delta.partial_json}`);
      } else if (event.type === "content_block_stop") {
        expect(event.index).toBe(open);
        open = -1;
      } else if (event.type === "message_stop" || event.type === "error") {
        expect(at).toBe(events.length - 1);
        sent.end = event.type === "error" ? "failed" : "complete";
      }
    }
    return sent;
  },
};

const responses = {
  writer: (): StreamWriter => checkResponse({ stream: true }).format.streamWriter(facts),
  /** @throws for what a client of Responses must not get */
  read(lines: string): Sent {
    const sent: Sent = { text: "", calls: [], ids: [], end: "failed" };
    const ends = new Map<unknown, End>([
      ["response.completed", "complete"],
      ["response.failed", "failed"],
    ]);
    const events = eventsOf(lines);
    expect(events.map((event) => event["sequence_number"])).toEqual(events.map((_, index) => index));
    for (const [at, event] of events.entries()) {
      const { type, item, delta } = event as { type: string; item?: Json; delta?: string };
      if (type === "response.output_text.delta") sent.text += delta;
      if (type === "response.output_item.added" && item?.["type"] === "function_call") {
        sent.calls.push("");
        sent.ids.push(String(item["call_id"]));
      }
      if (type === "response.function_call_arguments.delta") sent.calls.push(`${sent.calls.pop()}${delta}`);
      const end = ends.get(type);
      expect([type, end !== undefined]).toEqual([type, at === events.length - 1]);
      sent.end = end ?? sent.end;
    }
    return sent;
  },
};

const endpoints = { messages, responses };

/** @throws if a line is not one of an event with its name and its data */
function eventsOf(lines: string): Json[] {
  expect(lines).not.toMatch(/\r/);
  return lines
    .split("\n\n")
    .filter((event) => event !== "")
    .map((event) => {
      const end = event.indexOf("\n");
      const name = event.slice("event: ".length, end);
      const data = event.slice(end + 1);
      if (!event.startsWith("event: ") || !data.startsWith("data: {") || data.includes("\n"))
        throw new Error(`No event: ${JSON.stringify(event.slice(0, 300))}`);
      const parsed = JSON.parse(data.slice("data: ".length)) as Json;
      expect(parsed["type"]).toBe(name);
      return parsed;
    });
}

function decoded(format: Format, chunks: readonly (Json | string)[]): ProviderEvent[] {
  const events: ProviderEvent[] = [];
  const sequence = new EventSequence(wireFormats[format].format.streamDecoder(route("acme"), wants));
  const lines = chunks.map((chunk) => (typeof chunk === "string" ? chunk : JSON.stringify(chunk)));
  try {
    if (!lines.some((line) => sequence.take(line, events))) sequence.end(events);
  } catch (error) {
    events.push({ kind: "failure", failure: asUpstreamFailure(error) });
  }
  return events;
}

// What a provider may write

const start: Json = { type: "message_start", message: { id: "msg_1", usage: { input_tokens: 9, output_tokens: 1 } } };
const stop: Json[] = [
  { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 4 } },
  { type: "message_stop" },
];
const block = (index: unknown, content_block: Json): Json => ({ type: "content_block_start", index, content_block });
const piece = (index: unknown, delta: Json): Json => ({ type: "content_block_delta", index, delta });
const ofText = (index: unknown, text: string): Json[] => [
  block(index, { type: "text", text: "" }),
  piece(index, { type: "text_delta", text }),
];
const ofCall = (index: unknown, id: string, json: string): Json[] => [
  block(index, { type: "tool_use", id, name: "f", input: {} }),
  piece(index, { type: "input_json_delta", partial_json: json }),
];

const done = (output: Json[] = []): Json => ({
  type: "response.completed",
  response: { id: "resp_1", status: "completed", output, usage: { input_tokens: 9, output_tokens: 4 } },
});
const item = (output_index: unknown, fields: Json, more: Json = {}): Json => ({
  type: "response.output_item.added",
  output_index,
  item: fields,
  ...more,
});
const call = (id: string, more: Json = {}): Json => ({ type: "function_call", call_id: id, name: "f", arguments: "", ...more });
const argued = (output_index: unknown, delta: string, more: Json = {}): Json => ({
  type: "response.function_call_arguments.delta",
  output_index,
  delta,
  ...more,
});
const said = (delta: string, more: Json = {}): Json => ({ type: "response.output_text.delta", delta, ...more });

const chunk = (delta: Json, finish_reason: string | null = null): Json => ({ choices: [{ index: 0, delta, finish_reason }] });
const chatCall = (index: unknown, fields: Json): Json => chunk({ tool_calls: [{ index, ...fields }] });
const named = (id: string, args = ""): Json => ({ id, type: "function", function: { name: "f", arguments: args } });
const parts = (list: Json[], finishReason?: string): Json => ({
  candidates: [{ content: { role: "model", parts: list }, ...(finishReason && { finishReason }) }],
});

const far = [2 ** 31, 2 ** 31 + 1, 2 ** 53, -1, 1e308, 0.5];
/** Pieces of a chat completion's call need a number that counts. */
const counted = [2 ** 31, 2 ** 31 + 1, 2 ** 40, 7];
const longId = "i".repeat(mebibyte);

interface Hostile {
  name: string;
  format: Format;
  chunks: (Json | string)[];
  expected: Partial<Sent>;
}

const corpus: Hostile[] = [
  {
    name: "blocks without an end",
    format: "anthropic",
    chunks: [start, ...ofText(0, "a"), ...ofCall(1, "c1", '{"q":1}'), ...ofText(2, "b"), block(3, { type: "thinking" }), ...stop],
    expected: { text: "ab", calls: ['{"q":1}'], ids: ["c1"], end: "complete" },
  },
  {
    name: "every block with the same number",
    format: "anthropic",
    chunks: [start, ...ofText(0, "a"), ...ofCall(0, "c1", "{}"), ...ofCall(0, "c2", '{"q":2}'), ...ofText(0, "b"), ...stop],
    expected: { text: "ab", calls: ["{}", '{"q":2}'], end: "complete" },
  },
  {
    name: "numbers of blocks beyond 32 bits",
    format: "anthropic",
    chunks: [start, ...far.flatMap((index, at) => ofCall(index, `c${at}`, `{"q":${at}}`)), ...stop],
    expected: { calls: far.map((_, at) => `{"q":${at}}`), end: "complete" },
  },
  {
    name: "ends and pieces of blocks that never began",
    format: "anthropic",
    chunks: [start, { type: "content_block_stop", index: 7 }, piece(9, { type: "input_json_delta", partial_json: "{" }), ...stop],
    expected: { text: "", calls: [], end: "complete" },
  },
  {
    name: "two beginnings, and two ends",
    format: "anthropic",
    chunks: [start, ...ofText(0, "a"), start, ...ofText(0, "b"), ...stop, ...stop],
    expected: { text: "ab", end: "complete" },
  },
  {
    name: "ten thousand empty blocks",
    format: "anthropic",
    chunks: [start, ...Array.from({ length: 10_000 }, (_, index) => block(index, { type: "text", text: "" })), ...stop],
    expected: { text: "", calls: [], end: "complete" },
  },
  {
    name: "more calls than a request may answer",
    format: "anthropic",
    chunks: [start, ...Array.from({ length: messagesMax + 1 }, (_, index) => ofCall(index, `c${index}`, "{}")).flat(), ...stop],
    expected: { end: "failed" },
  },
  {
    name: "an id of a mebibyte",
    format: "anthropic",
    chunks: [start, ...ofCall(0, longId, "{}"), ...stop],
    expected: { ids: [longId], calls: ["{}"], end: "complete" },
  },
  {
    name: "ids that are longer than a request",
    format: "anthropic",
    chunks: [start, ...Array.from({ length: 9 }, (_, index) => ofCall(index, longId, "{}")).flat(), ...stop],
    expected: { end: "failed" },
  },
  {
    name: "line ends in texts, ids and arguments",
    format: "anthropic",
    chunks: [
      start,
      ...nasty.flatMap((text, at) => [...ofText(at, text), ...ofCall(50 + at, text, JSON.stringify({ text }))]),
      ...stop,
    ],
    expected: { text: nasty.join(""), ids: nasty, calls: nasty.map((text) => JSON.stringify({ text })), end: "complete" },
  },
  {
    name: "sequence numbers beyond 32 bits, and of other kinds",
    format: "openai-responses",
    chunks: [...[...far, "7", null, {}].map((sequence_number) => said("a", { sequence_number, output_index: 0 })), done()],
    expected: { text: "a".repeat(far.length + 3), end: "complete" },
  },
  {
    name: "places of items beyond 32 bits",
    format: "openai-responses",
    chunks: [...far.flatMap((at, n) => [item(at, call(`c${n}`)), argued(at, `{"q":${n}}`)]), done()],
    expected: { calls: far.map((_, n) => `{"q":${n}}`), end: "complete" },
  },
  {
    name: "items without an end, and pieces of items that never began",
    format: "openai-responses",
    chunks: [argued(9, "{"), item(0, call("c1")), argued(0, '{"q":1}'), said("a", { output_index: 4 }), done(), done()],
    expected: { text: "a", calls: ['{"q":1}'], end: "complete" },
  },
  {
    name: "another id with every piece",
    format: "openai-responses",
    chunks: [...Array.from({ length: 5_000 }, (_, at) => said("a", { item_id: `msg_${at}`, output_index: 0 })), done()],
    expected: { text: "a".repeat(5_000), end: "complete" },
  },
  {
    name: "ids of a mebibyte",
    format: "openai-responses",
    chunks: [item(0, call(longId, { id: longId })), argued(0, "{}", { item_id: longId }), done()],
    expected: { ids: [longId], calls: ["{}"], end: "complete" },
  },
  {
    name: "an end without a response",
    format: "openai-responses",
    chunks: [said("a", { output_index: 0 }), { type: "response.completed" }],
    expected: { text: "a", end: "complete" },
  },
  {
    name: "no end",
    format: "openai-responses",
    chunks: [said("a", { output_index: 0 }), item(1, call("c1")), argued(1, '{"q":')],
    expected: { text: "a", end: "failed" },
  },
  {
    name: "calls with numbers beyond 32 bits, mixed up",
    format: "openai",
    chunks: [
      ...counted.map((index, at) => chatCall(index, named(`c${at}`))),
      ...counted.toReversed().map((index) => chatCall(index, { function: { arguments: '{"q":' } })),
      ...counted.map((index, at) => chatCall(index, { function: { arguments: `${at}}` } })),
      chunk({}, "tool_calls"),
      "[DONE]",
    ],
    expected: { ids: counted.map((_, at) => `c${at}`), calls: counted.map((_, at) => `{"q":${at}}`), end: "complete" },
  },
  {
    name: "an id of a mebibyte",
    format: "openai",
    chunks: [chatCall(0, named(longId, "{}")), chunk({}, "tool_calls"), "[DONE]"],
    expected: { ids: [longId], calls: ["{}"], end: "complete" },
  },
  {
    name: "ids that are longer than a request",
    format: "openai",
    chunks: [...Array.from({ length: 9 }, (_, index) => chatCall(index, named(longId, "{}"))), chunk({}, "tool_calls"), "[DONE]"],
    expected: { end: "failed" },
  },
  {
    name: "a call in both forms, and a text behind its end",
    format: "openai",
    chunks: [
      chunk({ function_call: { name: "f", arguments: "{}" } }),
      chunk({}, "function_call"),
      chunk({ content: "a" }),
      "[DONE]",
    ],
    expected: { text: "a", calls: ["{}"], end: "complete" },
  },
  {
    name: "line ends in texts and names",
    format: "openai",
    chunks: [...nasty.map((content) => chunk({ content })), chunk({}, "stop"), "[DONE]"],
    expected: { text: nasty.join(""), end: "complete" },
  },
  {
    name: "a thousand parts at once",
    format: "google",
    chunks: [
      parts(
        Array.from({ length: 1_000 }, (_, at) => (at % 2 === 0 ? { text: "a" } : { functionCall: { name: "f", args: { at } } })),
      ),
      parts([], "STOP"),
    ],
    expected: {
      text: "a".repeat(500),
      calls: Array.from({ length: 500 }, (_, at) => JSON.stringify({ at: 2 * at + 1 })),
      end: "complete",
    },
  },
  {
    name: "line ends in texts and arguments",
    format: "google",
    chunks: [parts(nasty.flatMap((text) => [{ text }, { functionCall: { name: "f", args: { text } } }])), parts([], "STOP")],
    expected: { text: nasty.join(""), calls: nasty.map((text) => JSON.stringify({ text })), end: "complete" },
  },
];

describe.each(["messages", "responses"] as const)("to a client of %s", (name) => {
  const { writer, read } = endpoints[name];

  test.each(corpus.map((hostile) => [hostile.format, hostile.name, hostile] as const))("%s: %s", (format, _, hostile) => {
    const sent = read(streamText(decoded(format, hostile.chunks), writer(), usage));
    expect<Json>({ ...sent }).toMatchObject(hostile.expected as Json);
  });

  test("what waits behind a call that never ends does not fill the memory", () => {
    const begun: ProviderEvent[] = decoded("openai", [chatCall(0, named("c1", '{"q":"'))]).slice(0, 1);
    const text: ProviderEvent = { kind: "delta", delta: { content: "x".repeat(mebibyte) }, finishReason: null };
    const more = Array.from({ length: upstreamAnswerBytesMax / mebibyte + 1 }, () => text);
    const whole: ProviderEvent[] = [{ kind: "delta", delta: {}, finishReason: "stop" }, { kind: "end" }];
    const sent = read(streamText([...begun, ...more, ...whole], writer(), usage));
    expect(sent).toEqual({ text: "", calls: ['{"q":"'], ids: ["c1"], end: "failed" });
  });
});

test("arguments without an end pass a client of Messages as they come, and nothing of them is held", () => {
  const writer = messages.writer();
  writer.begin();
  writer.delta({ tool_calls: [{ index: 0, ...named("c1", '{"q":"') }] }, null);
  for (let count = 0; count < 4; count++) {
    const lines = writer.delta({ tool_calls: [{ index: 0, function: { arguments: "x".repeat(mebibyte) } }] }, null);
    expect(lines.length).toBeGreaterThan(mebibyte);
    expect(writer.held).toBe(0);
  }
});
