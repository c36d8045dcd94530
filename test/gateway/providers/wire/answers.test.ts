/** `parallel_tool_calls: false`: a client receives at most one call, whatever its provider answers. */
import { describe, expect, test } from "bun:test";
import type { WireFormat } from "../../../../src/gateway/providers/provider.ts";
import { wireFormats } from "../../../../src/gateway/providers/registry.ts";
import { withParallelToolCallsOff } from "../../../../src/gateway/providers/wire/answers.ts";
import { Transcript } from "../../../support/providers/transcript.ts";

const asked = { model: "stub/model", messages: [], parallel_tool_calls: false };

const call = (id: string, city: string, index?: number) => ({
  ...(index !== undefined && { index }),
  id,
  type: "function",
  function: { name: "weather", arguments: JSON.stringify({ city }) },
});
const use = (id: string, city: string) => ({ type: "tool_use", id, name: "weather", input: { city } });
const functionCall = (id: string, city: string) => ({ functionCall: { id, name: "weather", args: { city } } });

const callItem = (id: string, city: string) => ({
  type: "function_call",
  call_id: id,
  name: "weather",
  arguments: JSON.stringify({ city }),
});
const saying = { type: "message", content: [{ type: "output_text", text: "So:" }] };

/** A text and two calls in each format: whole, and event by event. */
const answers: Record<string, { whole: unknown; events: unknown[] }> = {
  openai: {
    whole: {
      choices: [{ message: { content: "So:", tool_calls: [call("a", "Oslo"), call("b", "Rome")] }, finish_reason: "tool_calls" }],
    },
    events: [
      { choices: [{ delta: { content: "So:" } }] },
      { choices: [{ delta: { tool_calls: [call("a", "Oslo", 0), call("b", "Rome", 1)] } }] },
      { choices: [{ delta: { tool_calls: [call("c", "Riga", 2)] } }] },
      { choices: [{ delta: {}, finish_reason: "tool_calls" }] },
      "[DONE]",
    ],
  },
  "openai-responses": {
    whole: { status: "completed", output: [saying, callItem("a", "Oslo"), callItem("b", "Rome")] },
    events: [
      { type: "response.output_text.delta", output_index: 0, delta: "So:" },
      { type: "response.output_item.done", output_index: 1, item: callItem("a", "Oslo") },
      { type: "response.output_item.done", output_index: 2, item: callItem("b", "Rome") },
      { type: "response.completed", response: { output: [saying, callItem("a", "Oslo"), callItem("b", "Rome")] } },
    ],
  },
  anthropic: {
    whole: { content: [{ type: "text", text: "So:" }, use("a", "Oslo"), use("b", "Rome")], stop_reason: "tool_use" },
    events: [
      { type: "message_start", message: { usage: { input_tokens: 5 } } },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "So:" } },
      { type: "content_block_start", index: 1, content_block: use("a", "Oslo") },
      { type: "content_block_stop", index: 1 },
      { type: "content_block_start", index: 2, content_block: use("b", "Rome") },
      { type: "content_block_stop", index: 2 },
      { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 9 } },
      { type: "message_stop" },
    ],
  },
  google: {
    whole: {
      candidates: [
        {
          content: { parts: [{ text: "So:" }, functionCall("a", "Oslo"), functionCall("b", "Rome")] },
          finishReason: "STOP",
        },
      ],
    },
    events: [
      { candidates: [{ content: { parts: [{ text: "So:" }, functionCall("a", "Oslo"), functionCall("b", "Rome")] } }] },
      { candidates: [{ content: { parts: [functionCall("c", "Riga")] }, finishReason: "STOP" }] },
    ],
  },
};

function calledWhole(format: WireFormat, body: unknown): unknown[] {
  const { message, finishReason } = format.decodeAnswer(body);
  const calls = message["tool_calls"];
  return [message.content, finishReason, ...(Array.isArray(calls) ? calls.map(({ id }: { id: string }) => id) : [])];
}

function calledStreamed(format: WireFormat, events: readonly unknown[]): unknown[] {
  const transcript = new Transcript();
  const decode = format.streamDecoder();
  for (const event of events) {
    for (const told of decode(typeof event === "string" ? event : JSON.stringify(event))) transcript.take(told);
  }
  return [transcript.text, ...transcript.finishReasons, ...transcript.toolCalls.map(({ id }) => id)];
}

const formats = Object.entries(wireFormats).filter(([name]) => name in answers);

test("every format has a case", () => {
  expect(formats).toHaveLength(Object.keys(wireFormats).length - 1);
});

describe.each(formats)("two calls from a provider of the format %s", (name, { format }) => {
  const { whole, events } = answers[name] ?? { whole: null, events: [] };

  test("become only the first if the client allows one at a time", () => {
    expect(calledWhole(withParallelToolCallsOff(format, asked), whole)).toEqual(["So:", "tool_calls", "a"]);
    expect(calledStreamed(withParallelToolCallsOff(format, asked), events)).toEqual(["So:", "tool_calls", "a"]);
  });

  test("stay two otherwise", () => {
    for (const chat of [
      { ...asked, parallel_tool_calls: true },
      { model: "stub/model", messages: [] },
    ]) {
      expect(calledWhole(withParallelToolCallsOff(format, chat), whole)).toEqual(["So:", "tool_calls", "a", "b"]);
      expect(calledStreamed(withParallelToolCallsOff(format, chat), events).slice(0, 4)).toEqual(["So:", "tool_calls", "a", "b"]);
    }
  });
});
