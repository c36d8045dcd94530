/** How answers of Messages are written, whole and as a stream: the two say the same. */
import { describe, expect, test } from "bun:test";
import type { WholeAnswer } from "../../../../src/gateway/providers/provider.ts";
import { messagesAnswer } from "../../../../src/gateway/api/messages/answer.ts";
import type { BilledUsage } from "../../../../src/gateway/api/answer/answer.ts";
import { streamCommentMs } from "../../../../src/gateway/limits.ts";
import { GatewayError } from "../../../../src/kernel/errors.ts";
import { settled } from "../../../support/clock.ts";
import { end, FakeEvents, finish, text as piece } from "../../../support/providers/fake-events.ts";
import { allOf, openRelay } from "../../../support/providers/open-relay.ts";

type Json = Record<string, unknown>;

const id = `gen-${"a".repeat(26)}`;
const usage: BilledUsage = { promptTokens: 100, cachedTokens: 75, cacheWriteTokens: 5, completionTokens: 9, reasoningTokens: 4 };
const facts = { id, created: 1, model: "acme/one", signer: "A" };
const wants = { model: "one", ignored: [], omitsThinking: false };
const counts = {
  input_tokens: 20,
  cache_creation_input_tokens: 5,
  cache_read_input_tokens: 75,
  output_tokens: 9,
  output_tokens_details: { thinking_tokens: 4 },
  server_tool_use: null,
};

function whole(answer: Omit<Partial<WholeAnswer>, "message"> & { message?: Json }, options: Partial<typeof wants> = {}): Json {
  const message = { role: "assistant", content: null, refusal: null, ...answer.message } as WholeAnswer["message"];
  const full: WholeAnswer = { finishReason: "stop", logprobs: null, usage: null, ...answer, message };
  return JSON.parse(messagesAnswer({ ...wants, ...options }).wholeText(full, { ...facts, usage })) as Json;
}

type Step = Json | { seal: string; redacted?: boolean };

function lines(steps: Step[], { ending = {}, ...options }: Partial<typeof wants> & { ending?: Json } = {}): string {
  const writer = messagesAnswer({ ...wants, ...options }).streamWriter({ ...facts, includeUsage: false, promptTokens: 33 });
  let text = writer.begin();
  for (const step of steps) {
    if ("seal" in step)
      text += writer.thought?.({ kind: "thought", seal: String(step["seal"]), redacted: step["redacted"] === true });
    else text += writer.delta(step, null);
  }
  return text + writer.complete({ reason: "stop", stop: null, ...ending } as never, usage);
}

function eventsOf(text: string): Json[] {
  return text
    .split("\n\n")
    .filter(Boolean)
    .map((event) => {
      const [, name, data] = /^event: (\w+)\ndata: (.*)$/s.exec(event) ?? [];
      const parsed = JSON.parse(data ?? "") as Json;
      expect(parsed["type"]).toBe(name ?? "");
      return parsed;
    });
}

const streamed = (steps: Step[], options?: Parameters<typeof lines>[1]): Json[] => eventsOf(lines(steps, options));

/** The blocks that a client assembles, as the official package does. */
function assembled(events: Json[]): Json[] {
  const blocks: Json[] = [];
  let open: number | null = null;
  for (const { type, index, content_block: block, delta } of events as {
    type: string;
    index: number;
    content_block: Json;
    delta: Json;
  }[]) {
    if (type === "content_block_start") {
      expect({ index, open }).toEqual({ index: blocks.length, open: null });
      open = index;
      blocks.push({ ...block, json: "" });
    } else if (type === "content_block_delta") {
      expect(index).toBe(open as number);
      const target = blocks[index] as Json;
      for (const [name, more] of Object.entries(delta)) {
        if (name === "partial_json") target["json"] = `${target["json"]}${more}`;
        else if (name !== "type") target[name] = name === "signature" ? more : `${target[name]}${more}`;
      }
    } else if (type === "content_block_stop") {
      expect(index).toBe(open as number);
      open = null;
    }
  }
  expect(open).toBeNull();
  return blocks.map(({ json, ...block }) => (json === "" ? block : { ...block, input: JSON.parse(String(json)) as unknown }));
}

const text = (said: string): Json => ({ type: "text", text: said, citations: null });
const use = (callId: string, name: string, input: Json): Json => ({
  type: "tool_use",
  id: callId,
  name,
  input,
  caller: { type: "direct" },
});
const called = (index: number, callId: string, name: string, args: string): Json => ({
  tool_calls: [{ index, id: callId, type: "function", function: { name, arguments: args } }],
});

describe("a whole answer", () => {
  test("is a message with the requested model and the charged usage", () => {
    expect(whole({ message: { content: "Hi" } })).toEqual({
      id: `msg_${"a".repeat(26)}`,
      type: "message",
      role: "assistant",
      model: "one",
      container: null,
      diagnostics: null,
      content: [text("Hi")],
      stop_reason: "end_turn",
      stop_sequence: null,
      stop_details: null,
      usage: {
        ...counts,
        cache_creation: { ephemeral_5m_input_tokens: 5, ephemeral_1h_input_tokens: 0 },
        inference_geo: null,
        service_tier: "standard",
        speed: null,
      },
    });
  });

  test("has the cost where the answer shows it", () => {
    const answer = { message: { role: "assistant" as const, content: "a", refusal: null }, finishReason: "stop" as const };
    const written = messagesAnswer(wants).wholeText(
      { ...answer, logprobs: null, usage: null },
      { ...facts, usage: { ...usage, cost: 860n } },
    );
    expect(JSON.parse(written)).toMatchObject({ usage: { cost: 8.6e-7, cost_details: { cost_usd: "0.000000860" } } });
  });

  test("of calls without arguments has an empty input, and one that is no object is shown to the model", () => {
    const tool_calls = ["", "{}", "[1]", '{"a":'].map((args, index) => ({
      id: `c${index}`,
      type: "function",
      function: { name: "f", arguments: args },
    }));
    const { content, stop_reason } = whole({ message: { tool_calls }, finishReason: "stop" });
    expect((content as Json[]).map(({ input }) => input)).toEqual([
      {},
      {},
      { invalid_arguments: "[1]" },
      { invalid_arguments: '{"a":' },
    ]);
    expect(stop_reason).toBe("tool_use");
  });

  test("has the thoughts in the model's order, their seals wrapped", () => {
    const delta = (fields: Json) => ({ kind: "delta" as const, delta: fields, finishReason: null });
    const pieces = [
      delta({ reasoning_content: "hm" }),
      { kind: "thought" as const, seal: "S", redacted: false },
      { kind: "thought" as const, seal: "D", redacted: true },
      delta({ content: "Hi" }),
    ];
    expect(whole({ pieces })["content"]).toEqual([
      { type: "thinking", thinking: "hm", signature: "w1.A.S" },
      { type: "redacted_thinking", data: "w1.A.D" },
      text("Hi"),
    ]);
    expect(whole({ pieces }, { omitsThinking: true })["content"]).toMatchObject([{ thinking: "", signature: "w1.A.S" }, {}, {}]);
  });

  test("keeps the text of an unsealed thought, which is all that the model can get back", () => {
    const { content } = whole({ message: { reasoning_content: "hm", content: "Hi" } }, { omitsThinking: true });
    expect(content).toEqual([{ type: "thinking", thinking: "hm", signature: "w1.A." }, text("Hi")]);
  });
});

describe("why an answer ends", () => {
  test.each<[string, Partial<WholeAnswer>, Json]>([
    ["end_turn", { finishReason: "stop" }, {}],
    ["max_tokens", { finishReason: "length" }, {}],
    ["tool_use", { finishReason: "tool_calls" }, {}],
    ["refusal", { finishReason: "content_filter" }, {}],
    ["refusal", { finishReason: "stop" }, { refusal: "No." }],
    ["stop_sequence", { finishReason: "stop", stop: { reason: "stop_sequence", sequence: "END" } }, {}],
    ["pause_turn", { finishReason: "stop", stop: { reason: "pause_turn", sequence: null } }, {}],
    [
      "model_context_window_exceeded",
      { finishReason: "length", stop: { reason: "model_context_window_exceeded", sequence: null } },
      {},
    ],
    ["end_turn", { finishReason: "stop", stop: { reason: "a_word_of_tomorrow", sequence: null } }, {}],
  ])("%s", (reason, answer, message) => {
    const { stop_reason, stop_sequence } = whole({ ...answer, message });
    expect([stop_reason, stop_sequence]).toEqual([reason, reason === "stop_sequence" ? "END" : null]);
  });

  test("is the same in a stream", () => {
    const ending = { reason: "stop", stop: { reason: "stop_sequence", sequence: "END" } };
    expect(streamed([{ content: "a" }], { ending }).at(-2)).toMatchObject({
      delta: { stop_reason: "stop_sequence", stop_sequence: "END", stop_details: null, container: null },
    });
    expect(streamed([called(0, "1", "f", "{}")]).at(-2)).toMatchObject({ delta: { stop_reason: "tool_use" } });
    expect(streamed([{ refusal: "No." }]).at(-2)).toMatchObject({ delta: { stop_reason: "refusal" } });
  });
});

describe("a stream", () => {
  test("begins with a message whose usage has numbers, and a ping", () => {
    const [start, ping] = streamed([]);
    expect(start).toMatchObject({
      type: "message_start",
      message: { content: [], stop_reason: null, usage: { input_tokens: 33, output_tokens: 0, cache_read_input_tokens: 0 } },
    });
    expect(ping).toEqual({ type: "ping" });
  });

  test("has named events in their order, one start, one end and all counts", () => {
    const events = streamed([{ reasoning_content: "h" }, { reasoning_content: "m" }, { content: "Hi" }, { content: " you" }]);
    expect(events.map(({ type }) => type)).toEqual([
      "message_start",
      "ping",
      "content_block_start",
      "content_block_delta",
      "content_block_delta",
      "content_block_delta",
      "content_block_stop",
      "content_block_start",
      "content_block_delta",
      "content_block_delta",
      "content_block_stop",
      "message_delta",
      "message_stop",
    ]);
    expect(events.at(-2)).toMatchObject({ usage: counts });
    expect(lines([{ content: "Hi" }])).not.toContain("[DONE]");
    expect(assembled(events)).toEqual([{ type: "thinking", thinking: "hm", signature: "w1.A." }, text("Hi you")]);
  });

  test("writes a call with an empty input at its start, then its pieces", () => {
    const events = streamed([
      called(0, "1", "f", ""),
      { tool_calls: [{ index: 0, function: { arguments: '{"a"' } }] },
      {
        tool_calls: [{ index: 0, function: { arguments: ":1}" } }],
      },
    ]);
    expect(events[2]).toEqual({ type: "content_block_start", index: 0, content_block: use("1", "f", {}) });
    expect(events[3]).toMatchObject({ delta: { type: "input_json_delta", partial_json: '{"a"' } });
    expect(assembled(events)).toEqual([use("1", "f", { a: 1 })]);
  });

  test("has the arguments of a call in one piece if they come only at its end", () => {
    const events = streamed([
      called(0, "1", "f", ""),
      { tool_calls: [{ index: 0, function: { arguments: '{"a":1}' } }] },
      { content: "and" },
    ]);
    const pieces = events.filter(({ delta }) => (delta as Json | undefined)?.["type"] === "input_json_delta");
    expect(pieces).toEqual([
      { type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: '{"a":1}' } },
    ]);
    expect(assembled(events)).toEqual([use("1", "f", { a: 1 }), text("and")]);
  });

  test("writes interleaved calls one after another, and a text between two of them", () => {
    const piece = (index: number, args: string): Json => ({ tool_calls: [{ index, function: { arguments: args } }] });
    const steps = [called(0, "1", "f", '{"a":'), called(1, "2", "g", '{"b":'), piece(0, "1}"), { content: "Hm" }, piece(1, "2}")];
    expect(assembled(streamed(steps))).toEqual([use("1", "f", { a: 1 }), use("2", "g", { b: 2 }), text("Hm")]);
    const apart = [called(0, "1", "f", "{}"), { content: "Hm" }, called(1, "2", "g", "{}")];
    expect(assembled(streamed(apart))).toEqual([use("1", "f", {}), text("Hm"), use("2", "g", {})]);
  });

  test("of a call without arguments has no piece, and one without an id gets one", () => {
    const events = streamed([{ tool_calls: [{ index: 0, type: "function", function: { name: "f" } }] }]);
    expect(events.filter(({ type }) => type === "content_block_delta")).toEqual([]);
    expect(assembled(events)).toEqual([use(`toolu_${"a".repeat(26)}_0`, "f", {})]);
  });

  test("has no block for an empty text or an empty list of calls", () => {
    expect(assembled(streamed([{ content: "" }, { tool_calls: [], content: "a" }, { content: "" }]))).toEqual([text("a")]);
  });

  test("seals a thought with its last piece, and shows a redacted one at once", () => {
    const events = streamed([{ reasoning_content: "hm" }, { seal: "S" }, { seal: "D", redacted: true }, { content: "a" }]);
    expect(assembled(events)).toEqual([
      { type: "thinking", thinking: "hm", signature: "w1.A.S" },
      { type: "redacted_thinking", data: "w1.A.D" },
      text("a"),
    ]);
  });

  test("leaves the text of a sealed thought out if the client wants none, and only that", () => {
    const omitted = (...steps: Step[]) => assembled(streamed(steps, { omitsThinking: true }));
    expect(omitted({ reasoning_content: "hm" }, { seal: "S" }, { content: "a" })).toEqual([
      { type: "thinking", thinking: "", signature: "w1.A.S" },
      text("a"),
    ]);
    expect(omitted({ reasoning_content: "h" }, { reasoning_content: "m" }, { content: "a" })).toEqual([
      { type: "thinking", thinking: "hm", signature: "w1.A." },
      text("a"),
    ]);
  });

  test("counts what waits for the end of a thought or of a call", () => {
    const writer = messagesAnswer({ ...wants, omitsThinking: true }).streamWriter({
      ...facts,
      includeUsage: false,
      promptTokens: 1,
    });
    writer.delta({ reasoning_content: "x".repeat(1_000) }, null);
    expect(writer.held).toBeGreaterThanOrEqual(1_000);
    writer.delta({ content: "a" }, null);
    expect(writer.held).toBe(0);
  });

  test("that fails ends with an error event and no message_stop", () => {
    const writer = messagesAnswer(wants).streamWriter({ ...facts, includeUsage: false, promptTokens: 1 });
    const failed =
      writer.begin() + writer.delta({ content: "Hi" }, null) + writer.fail(new GatewayError("upstream_error"), usage);
    expect(eventsOf(failed).at(-1)).toMatchObject({ type: "error", error: { type: "api_error", code: "upstream_error" } });
    expect(failed).not.toContain("message_stop");
  });

  test("of a quiet provider begins at once, and has a ping after each time of quiet", async () => {
    const writer = messagesAnswer(wants).streamWriter({ ...facts, includeUsage: false, promptTokens: 1 });
    const events = new FakeEvents();
    const { stream, clock } = openRelay({ events, options: { writer, quiet: true } });
    const all = allOf(stream);
    await settled();
    for (let pings = 0; pings < 2; pings++) {
      clock.advance(streamCommentMs);
      await settled();
    }
    events.give(piece("Hi"), finish(), end);
    expect(eventsOf(await all).map(({ type }) => type)).toEqual([
      "message_start",
      "ping",
      "ping",
      "ping",
      "ping",
      "content_block_start",
      "content_block_delta",
      "content_block_stop",
      "message_delta",
      "message_stop",
    ]);
  });
});

describe("headers", () => {
  const headersWith = (ignored: string[]) =>
    messagesAnswer({ ...wants, ignored }).headers?.({ generation: id, request: "req-1" } as never);

  test("have the request's id, and the names that were left out, sorted", () => {
    expect(headersWith([])).toEqual({ "request-id": "req-1" });
    expect(headersWith(["b", "a"])).toEqual({ "request-id": "req-1", "x-ignored-fields": "a, b" });
  });
});
