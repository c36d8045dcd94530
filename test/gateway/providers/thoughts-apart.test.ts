/** Thoughts of endpoints that have fields for them: each decoder gives them apart, and each encoder sends them to their model alone. */
import { describe, expect, test } from "bun:test";
import { answerBlocks, type AnswerBlock } from "../../../src/gateway/api/answer/block-sequence.ts";
import { sealCharactersMax } from "../../../src/gateway/limits.ts";
import type { Route, WireFormatName } from "../../../src/gateway/models/model.ts";
import { apart, type ChatMessage, type ProviderCall, type ProviderEvent } from "../../../src/gateway/providers/provider.ts";
import { wireFormats } from "../../../src/gateway/providers/registry.ts";
import { AnswerAssembly } from "../../../src/gateway/providers/transport/other-forms.ts";
import { signerOf } from "../../../src/gateway/providers/wire/answers.ts";
import type { Thought } from "../../../src/gateway/thoughts.ts";
import { ownKey } from "../../support/gateway/own-keys.ts";
import { blockEvents } from "../../support/providers/anthropic-answers.ts";
import { testGeneration } from "../../support/providers/call.ts";
import { aRoute } from "../../support/providers/models.ts";

type Json = Record<string, unknown>;

const wants = { thoughts: true } as const;
const formats = ["anthropic", "openai-responses", "openai", "google"] as const;
const routeOf = (format: WireFormatName): Route =>
  aRoute({ format: format as "openai" }, { ...(format === "anthropic" && { thinking: "adaptive" }) });

function answerOf(format: WireFormatName, { body, events }: { body?: unknown; events?: readonly Json[] }) {
  const { decodeAnswer, streamDecoder } = wireFormats[format].format;
  if (events === undefined) return decodeAnswer(body, routeOf(format), wants);
  const decode = streamDecoder(routeOf(format), wants);
  const assembly = new AnswerAssembly(wants);
  const told: ProviderEvent[] = events.flatMap((event) => decode(JSON.stringify(event)));
  for (const event of told) assembly.add(event);
  return assembly.whole();
}

const thinking = (text: string, seal: string, redacted = false): AnswerBlock => ({ kind: "thinking", text, seal, redacted });
const called = (id: string, text: string): AnswerBlock => ({ kind: "call", id, name: "look", custom: false, text });

describe("an answer of Anthropic's API", () => {
  const signature = "c2lnbmF0dXJl+/8=";
  const blocks: Json[] = [
    { type: "thinking", thinking: "Weather first.", signature },
    { type: "redacted_thinking", data: "ZW5jcnlwdGVk" },
    { type: "text", text: "Looking." },
    { type: "tool_use", id: "toolu_a", name: "look", input: { at: 1 } },
    { type: "thinking", thinking: "", signature: "Yg==" },
    { type: "tool_use", id: "toolu_b", name: "look", input: {} },
  ];

  test.each<[string, (given: readonly Json[], stop?: Json) => ReturnType<typeof answerOf>]>([
    ["whole", (content, stop) => answerOf("anthropic", { body: { content, stop_reason: "tool_use", ...stop } })],
    ["streamed", (content, stop) => answerOf("anthropic", { events: blockEvents(content, stop) })],
  ])("that is %s has its blocks in their order, with seals and plain ids", (_, answer) => {
    const read = answer(blocks);
    expect(answerBlocks(read)).toEqual([
      thinking("Weather first.", signature),
      thinking("", "ZW5jcnlwdGVk", true),
      { kind: "text", text: "Looking." },
      called("toolu_a", '{"at":1}'),
      thinking("", "Yg=="),
      called("toolu_b", "{}"),
    ]);
    expect(read.stop).toEqual({ reason: "tool_use", sequence: null });
    expect(answer([{ type: "text", text: "a" }], { stop_reason: "stop_sequence", stop_sequence: "END" }).stop).toEqual({
      reason: "stop_sequence",
      sequence: "END",
    });
    expect(answer([{ type: "text", text: "a" }], { stop_reason: "stop" }).stop).toBeUndefined();
  });

  test("keeps a thought that a server neither closes nor signs, and no seal that is too long", () => {
    const [start, , open, ...rest] = blockEvents([{ type: "thinking", thinking: "Hm.", signature: "" }]);
    const unclosed = rest.filter(({ type }) => type !== "content_block_stop");
    expect(answerBlocks(answerOf("anthropic", { events: [start ?? {}, open ?? {}, ...unclosed] }))).toEqual([
      thinking("Hm.", ""),
    ]);
    const piece = {
      type: "content_block_delta",
      index: 0,
      delta: { type: "signature_delta", signature: "A".repeat(sealCharactersMax) },
    };
    const long = [
      start ?? {},
      open ?? {},
      ...rest.slice(0, 1),
      piece,
      { ...piece, delta: { ...piece.delta, signature: "A" } },
      ...rest,
    ];
    expect(answerBlocks(answerOf("anthropic", { events: long }))).toMatchObject([{ kind: "thinking", seal: "" }]);
  });
});

describe("an answer of the Responses API", () => {
  const reasoning = (id: string, encrypted: string, ...summary: string[]): Json => ({
    id,
    type: "reasoning",
    summary: summary.map((text) => ({ type: "summary_text", text })),
    encrypted_content: encrypted,
  });
  const output: Json[] = [
    reasoning("rs_1", "gAAA_1==", "First.", "Then."),
    { id: "fc_1", type: "function_call", call_id: "call_1", name: "look", arguments: '{"at":1}' },
    reasoning("rs_2", "gAAA_2=="),
    reasoning("rs_3", "gAAA_3==", "Last."),
    { id: "msg_1", type: "message", content: [{ type: "output_text", text: "Rain." }] },
  ];
  const whole = { id: "resp_1", status: "completed", output };
  const done = output.map((item, output_index) => ({ type: "response.output_item.done", output_index, item }));
  const pieces: Json[] = [
    { type: "response.reasoning_summary_text.delta", item_id: "rs_1", output_index: 0, summary_index: 0, delta: "First." },
    { type: "response.reasoning_summary_text.delta", item_id: "rs_1", output_index: 0, summary_index: 1, delta: "Then." },
  ];
  const completed = { type: "response.completed", response: whole };

  test.each<[string, Parameters<typeof answerOf>[1]]>([
    ["whole", { body: whole }],
    ["streamed by items", { events: [...done, completed] }],
    ["streamed in pieces", { events: [...pieces, ...done, completed] }],
    ["all in the last event", { events: [completed] }],
    [
      "under other ids at the end",
      {
        events: [
          ...done,
          { ...completed, response: { ...whole, output: output.map((item) => ({ ...item, id: `${String(item["id"])}x` })) } },
        ],
      },
    ],
  ])("that is %s has every reasoning with its encrypted form, and plain ids", (_, given) => {
    expect(answerBlocks(answerOf("openai-responses", given))).toEqual([
      thinking("First.\n\nThen.", "gAAA_1=="),
      called("call_1", '{"at":1}'),
      thinking("", "gAAA_2=="),
      thinking("Last.", "gAAA_3=="),
      { kind: "text", text: "Rain." },
    ]);
  });
});

// The way back

const question: ChatMessage = { role: "user", content: "Weather?" };
const tools = ["a", "b"].map((id) => ({ id, type: "function", function: { name: "look", arguments: "{}" } }));
const results: ChatMessage[] = tools.map(({ id }) => ({ role: "tool", tool_call_id: id, content: "rain" }));

function thoughtsOf(signer: string): Thought[] {
  return [
    { signer, text: "First.", seal: "c2VhbC0x", callsBefore: 0 },
    { signer, text: "", seal: "c2VhbC0y", redacted: true, callsBefore: 1 },
  ];
}

/** The model's message, with thoughts before each of its two calls. */
function answered(thoughts: readonly Thought[]): ChatMessage {
  return { role: "assistant", content: "Looking.", tool_calls: tools, [apart]: { thoughts } };
}

function sent(route: Route, messages: ChatMessage[], more: Partial<ProviderCall> = {}): Json {
  const chat = { model: "stub/model", messages, reasoning_effort: "high" };
  const call = { generation: testGeneration, route, chat, maxOutputTokens: 8_000, streamed: false, ...more };
  return JSON.parse(wireFormats[route.format].format.encode(call).body) as Json;
}

const loop = (route: Route, more?: Partial<ProviderCall>, thoughts = thoughtsOf(signerOf(route))): Json =>
  sent(route, [question, answered(thoughts), ...results], more);
const turnsIn = (body: Json): Json[] => (body["messages"] ?? body["contents"] ?? body["input"]) as Json[];

test("Anthropic's API gets them as blocks before the text and before their calls", () => {
  expect(turnsIn(loop(routeOf("anthropic")))[1]?.["content"]).toMatchObject([
    { type: "thinking", thinking: "First.", signature: "c2VhbC0x" },
    { type: "text", text: "Looking." },
    { type: "tool_use", id: "a" },
    { type: "redacted_thinking", data: "c2VhbC0y" },
    { type: "tool_use", id: "b" },
  ]);
});

test("the Responses API gets their encrypted forms as items", () => {
  expect(turnsIn(loop(routeOf("openai-responses"))).slice(1, 6)).toMatchObject([
    { type: "reasoning", summary: [], encrypted_content: "c2VhbC0x" },
    { role: "assistant", content: "Looking." },
    { type: "function_call", call_id: "a" },
    { type: "reasoning", encrypted_content: "c2VhbC0y" },
    { type: "function_call", call_id: "b" },
  ]);
});

test("chat completions get their texts, and generateContent nothing of them", () => {
  expect(turnsIn(loop(routeOf("openai")))[1]).toMatchObject({ role: "assistant", reasoning_content: "First." });
  expect(loop(routeOf("google"))).toEqual(loop(routeOf("google"), {}, []));
});

describe.each(formats)("behind %s", (format) => {
  const route = routeOf(format);
  const without = loop(route, {}, []);

  test.each<[string, readonly Thought[], Partial<ProviderCall>]>([
    ["of another model", thoughtsOf("stub_other"), {}],
    ["of another provider", thoughtsOf(signerOf({ ...route, provider: { ...route.provider, id: "other" } })), {}],
    ["that the provider has refused", thoughtsOf(signerOf(route)), { withoutThoughts: true }],
  ])("thoughts %s are left out, and nothing else changes", (_, thoughts, more) => {
    const { thinking: _thinking, ...body } = loop(route, more, [...thoughts]);
    const { thinking: _without, ...plain } = without;
    expect(body).toEqual(plain);
  });

  test("what thoughts add is reserved", () => {
    const { addedBytes } = wireFormats[format].format;
    const added = (thoughts: readonly Thought[]) => addedBytes?.({ model: "m", messages: [question, answered(thoughts)] }) ?? 0;
    const long: Thought[] = [{ signer: signerOf(route), text: "é".repeat(500), seal: "A".repeat(400), callsBefore: 0 }];
    const bytes = { anthropic: 1_300, openai: 1_000, "openai-responses": 300, google: 0 }[format];
    expect(added(long) - added([])).toBeGreaterThanOrEqual(bytes);
  });
});

test("encrypted reasoning of another account is left out", () => {
  const route = routeOf("openai-responses");
  expect(loop({ ...route, ownKey: ownKey() }, {}, thoughtsOf(signerOf(route)))).toEqual(loop(route, {}, []));
});

test.each(["anthropic", "openai-responses"] as const)(
  "a thought without a seal, or with nothing behind it, is not sent: %s",
  (format) => {
    const route = routeOf(format);
    const signer = signerOf(route);
    const unsealed: Thought = { signer, text: "Hm.", seal: "", callsBefore: 0 };
    const last: Thought = { signer, text: "Hm.", seal: "c2VhbA==", callsBefore: 2 };
    expect(turnsIn(loop(route, {}, [unsealed, last]))).toEqual(turnsIn(loop(route, {}, [])));
    const alone: ChatMessage = { role: "assistant", content: "", [apart]: { thoughts: [{ ...last, callsBefore: 0 }] } };
    expect(JSON.stringify(sent(route, [question, alone, question]))).not.toContain("c2VhbA==");
  },
);

test.each(["anthropic", "openai-responses"] as const)(
  "thoughts of finished answers are sent in every later turn: %s",
  (format) => {
    const route = routeOf(format);
    const finished: ChatMessage = {
      role: "assistant",
      content: "Rain.",
      [apart]: { thoughts: thoughtsOf(signerOf(route)).slice(0, 1) },
    };
    const once = turnsIn(sent(route, [question, finished, question]));
    const twice = turnsIn(sent(route, [question, finished, question, finished, question]));
    expect(JSON.stringify(once)).toContain("c2VhbC0x");
    expect(twice.slice(0, once.length)).toEqual(once);
  },
);
