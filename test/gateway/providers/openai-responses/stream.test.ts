import { heapSize } from "bun:jsc";
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { ProviderEvent } from "../../../../src/gateway/providers/provider.ts";
import { responses } from "../../../../src/gateway/providers/registry.ts";
import { assembledAnswer } from "../../../../src/gateway/providers/transport/other-forms.ts";
import { responseEvents, responseUsage } from "../../../support/providers/responses-answers.ts";
import { Transcript } from "../../../support/providers/transcript.ts";

function decoded(events: readonly object[]): ProviderEvent[] {
  const decode = responses.streamDecoder();
  return events.flatMap((event) => decode(JSON.stringify(event)));
}

const deltas = (events: readonly ProviderEvent[]) => events.flatMap((event) => (event.kind === "delta" ? [event.delta] : []));

test("a call of a custom tool arrives piece by piece, and again not at its end", () => {
  const calls = [{ call_id: "call_1", name: "shell", input: "ls -l /tmp" }];
  expect(deltas(decoded(responseEvents("", { calls })))).toEqual([
    { tool_calls: [{ index: 0, id: "call_1", type: "custom", custom: { name: "shell", input: "" } }] },
    { tool_calls: [{ index: 0, custom: { input: "ls -l /" } }] },
    { tool_calls: [{ index: 0, custom: { input: "tmp" } }] },
    {},
  ]);
  const whole = responses.decodeAnswer(responseEvents("", { calls }).at(-1)?.["response"]);
  expect(whole).toMatchObject({
    finishReason: "tool_calls",
    message: { content: null, tool_calls: [{ id: "call_1", type: "custom", custom: { name: "shell", input: "ls -l /tmp" } }] },
  });
});

test("log probabilities arrive with their text, whole and streamed", () => {
  const logprobs = [{ token: "Hi", logprob: -0.1, top_logprobs: [{ token: "Ho", logprob: -2 }] }];
  const item = { type: "message", content: [{ type: "output_text", text: "Hi", logprobs }] };
  const delta = { type: "response.output_text.delta", output_index: 0, delta: "Hi", logprobs };
  const told = { content: logprobs, refusal: null };
  expect(decoded([delta])).toEqual([{ kind: "delta", delta: { content: "Hi" }, finishReason: null, logprobs: told }]);
  expect(responses.decodeAnswer({ output: [item] }).logprobs).toEqual(told);
});

test("every text is told once, wherever a server tells it", () => {
  const [added, ...others] = responseEvents("Hello there", { summary: ["One.", "Two."] }).filter(
    ({ type }) => type !== "response.created",
  );
  const all = [added, ...others].filter((event) => event !== undefined);
  const parts: ((event: object & { type?: unknown }) => boolean)[] = [
    () => true,
    ({ type }) => !String(type).endsWith(".delta"),
    ({ type }) => type !== "response.output_item.done",
    ({ type }) => type === "response.completed",
  ];
  for (const isSent of parts) {
    const said = deltas(decoded(all.filter(isSent)));
    expect(said.map(({ content = "" }) => content).join("")).toBe("Hello there");
    expect(said.map(({ reasoning_content = "" }) => reasoning_content).join("")).toBe("One.\n\nTwo.");
  }
});

test("what the model says before it works on, and its answer, are paragraphs, whole and streamed", () => {
  const texts = ["I'll check.", "", "It rains."];
  const output = texts.map((text, index) => ({ id: `msg_${index}`, type: "message", content: [{ type: "output_text", text }] }));
  const pieces = output.flatMap(({ id, content: [part] }, output_index) =>
    (part?.text.match(/\S+\s*/g) ?? []).map((delta) => ({
      type: "response.output_text.delta",
      item_id: id,
      output_index,
      delta,
    })),
  );
  const ends = output.map((item, output_index) => ({ type: "response.output_item.done", output_index, item }));
  const completed = { type: "response.completed", response: { output } };
  const streams = [[...pieces, completed], [...ends, completed], [completed]];
  const told = streams.map((events) =>
    deltas(decoded(events))
      .map(({ content = "" }) => content)
      .join(""),
  );
  const whole = responses.decodeAnswer({ output }).message.content;
  expect([whole, ...told]).toEqual(Array(4).fill("I'll check.\n\nIt rains."));
});

test("the last event's counts precede the finish reason and the end", () => {
  const usage = responseUsage(100, 40, { cached: 64, reasoning: 30 });
  expect(decoded(responseEvents("Hello", { usage })).slice(-3)).toEqual([
    {
      kind: "usage",
      usage: { promptTokens: 100, cachedTokens: 64, cacheWriteTokens: 0, completionTokens: 40, reasoningTokens: 30 },
    },
    { kind: "delta", delta: {}, finishReason: "stop" },
    { kind: "end" },
  ]);
});

const words = fc.string({ minLength: 1, maxLength: 20, unit: fc.constantFrom("a", "é", "😀", "\n", '"', "\\", " ") });
const someCalls = fc.uniqueArray(
  fc.record({ call_id: fc.stringMatching(/^call_[a-z]{1,6}$/), name: fc.stringMatching(/^[a-z]{1,6}$/), arguments: words }),
  { selector: ({ call_id }) => call_id, maxLength: 3 },
);
const anyResponse = fc.tuple(
  fc.option(words, { nil: "" }),
  fc.record({
    calls: someCalls,
    summary: fc.array(words, { maxLength: 3 }),
    usage: fc.constantFrom(responseUsage(9, 7, { reasoning: 3 }), null),
  }),
);

test("a stream says what the whole response says", () => {
  fc.assert(
    fc.property(anyResponse, ([text, options]) => {
      const events = responseEvents(text, options);
      const transcript = new Transcript();
      for (const event of decoded(events)) transcript.take(event);
      const { message, finishReason, usage } = responses.decodeAnswer(events.at(-1)?.["response"]);
      const calls = transcript.toolCalls.map(({ id, ...called }) => ({ id, type: "function", function: called }));
      expect<unknown>({
        content: transcript.text,
        reasoning: transcript.reasoning,
        calls,
        finish: transcript.finishReasons,
        usage: transcript.usage,
        last: transcript.last,
      }).toEqual({
        content: message.content ?? "",
        reasoning: message["reasoning_content"] ?? "",
        calls: message["tool_calls"] ?? [],
        finish: [finishReason],
        usage,
        last: "end",
      });
    }),
  );
});

describe("a server that is not OpenAI's", () => {
  const callItem = (name: string) => ({ type: "function_call", id: `fc_${name}`, call_id: `call_${name}`, name, arguments: "" });
  const made = ["a", "b"].map((name) => ({ name, text: `{"x":"${name}"}` }));
  const called = made.map(({ name, text }) => ({ id: `call_${name}`, name, arguments: text }));
  const toldBy = (events: readonly object[]): Transcript => {
    const transcript = new Transcript();
    for (const event of decoded(events)) transcript.take(event);
    return transcript;
  };
  const output = made.map(({ name, text }) => ({ ...callItem(name), arguments: text }));
  const completed = { type: "response.completed", response: { output } };

  test.each<[string, (index: number) => object]>([
    ["gives every item the same place", () => ({ output_index: 0 })],
    ["gives every item an empty id", (index) => ({ output_index: index, item_id: "" })],
    [
      "writes null for what it lacks",
      (index) => ({ output_index: null, item_id: `fc_${made[index]?.name}`, sequence_number: null }),
    ],
    ["gives what is no name", (index) => ({ output_index: { toString: 1 }, item_id: `fc_${made[index]?.name}`, item: null })],
  ])("and %s has its calls told apart", (_, at) => {
    const events = made.flatMap(({ name, text }, index) => [
      { type: "response.output_item.added", ...at(index), item: callItem(name) },
      { type: "response.function_call_arguments.delta", ...at(index), delta: text.slice(0, 4) },
      { type: "response.function_call_arguments.delta", ...at(index), delta: text.slice(4) },
      { type: "response.output_item.done", ...at(index), item: { ...callItem(name), arguments: text } },
    ]);
    expect(toldBy([...events, completed])).toMatchObject({ toolCalls: called, last: "end" });
  });

  test("and whose texts have no name of their own, or none that is a text, never makes the decoder throw", () => {
    const names = fc.constantFrom<unknown>({ toString: 1 }, [[]], "", -1, 0.5, 1e9, null, "x");
    const kinds = fc.constantFrom(
      "response.output_text.delta",
      "response.reasoning_summary_text.delta",
      "response.output_item.added",
      "response.output_item.done",
      "response.function_call_arguments.delta",
    );
    const item = fc.record({
      type: fc.constantFrom("message", "reasoning", "function_call"),
      id: names,
      call_id: names,
      name: names,
    });
    const event = fc.record({ type: kinds, output_index: names, item_id: names, summary_index: names, delta: names, item });
    fc.assert(
      fc.property(fc.array(event, { maxLength: 12 }), (events) => {
        const decode = responses.streamDecoder();
        for (const one of events) if (decode(JSON.stringify(one)).at(-1)?.kind === "failure") return;
      }),
      { numRuns: 500 },
    );
  });

  test("and writes a new id with every piece has none of them kept for long", () => {
    const decode = responses.streamDecoder();
    const pieces = 30_000;
    const say = (piece: number): ProviderEvent[] =>
      decode(
        JSON.stringify({
          type: "response.output_text.delta",
          output_index: 0,
          item_id: `${piece} ${"x".repeat(500)}`,
          delta: "a",
        }),
      );
    say(0);
    Bun.gc(true);
    const before = heapSize();
    for (let piece = 1; piece < pieces; piece++) expect(say(piece)).toHaveLength(1);
    Bun.gc(true);
    expect(heapSize() - before).toBeLessThan(pieces * 250);
    const item = { type: "message", id: "y", content: [{ type: "output_text", text: "a".repeat(pieces) }] };
    const ended = decode(JSON.stringify({ type: "response.completed", response: { output: [item] } }));
    expect(ended).toEqual([{ kind: "delta", delta: {}, finishReason: "stop" }, { kind: "end" }]);
  });

  test("and counts in parts has all of them charged, whole and streamed", async () => {
    const events = [
      { type: "response.in_progress", response: { usage: { input_tokens: 100, input_tokens_details: { cached_tokens: 60 } } } },
      { type: "response.output_text.delta", output_index: 0, delta: "Hi" },
      { type: "response.completed", response: { usage: { output_tokens: 5 } } },
    ];
    const usage = { promptTokens: 100, cachedTokens: 60, cacheWriteTokens: 0, completionTokens: 5, reasoningTokens: 0 };
    expect(toldBy(events).usage).toEqual(usage);
    const body = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
    expect((await assembledAnswer(body, responses.streamDecoder())).usage).toEqual(usage);
  });

  test("and writes arguments as an object has them in the call", () => {
    const item = { ...callItem("a"), arguments: { x: "a" } };
    const events = [
      { type: "response.output_item.added", output_index: 0, item: callItem("a") },
      { type: "response.output_item.done", output_index: 0, item },
    ];
    expect(toldBy(events).toolCalls).toEqual([{ id: "call_a", name: "a", arguments: '{"x":"a"}' }]);
    const { message } = responses.decodeAnswer({ output: [item], status: null, error: null, usage: null });
    expect(message["tool_calls"]).toMatchObject([{ function: { name: "a", arguments: '{"x":"a"}' } }]);
  });
});
