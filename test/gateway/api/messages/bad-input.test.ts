/**
 * Requests to Messages that no provider gets: each is refused by the name of a field that was sent, and leaves no trace. What is only large
 * is no problem.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { messageErrorType } from "../../../../src/gateway/api/messages/errors.ts";
import { messagesFormat } from "../../../../src/gateway/api/messages/request.ts";
import { readTurns } from "../../../../src/gateway/api/messages/blocks.ts";
import { checkRequest } from "../../../../src/gateway/api/request/chat-request.ts";
import { readPathText } from "../../../../src/gateway/providers/provider-error.ts";
import { wrappedSeal } from "../../../../src/gateway/thoughts.ts";
import { errorTable, GatewayError, type ErrorCode } from "../../../../src/kernel/errors.ts";
import { Dice } from "../../../hostile/bodies/dice.ts";
import { weirdValue } from "../../../hostile/bodies/weird-value.ts";
import { everything } from "../../../support/gateway/check-chat.ts";
import { expectExactBalance } from "../../../support/gateway/exact-ledger.ts";
import { expectSound, stage, type Stage } from "../request/bad-input/stage.ts";
import { assistant, called, checked, ephemeral, messagesOf, refusal, result, said, tool, user, type Fields } from "./reading.ts";

let on: Stage;
beforeAll(async () => void (on = await stage()), 60_000);
afterAll(() => expectSound(on));

function post(key: string, fields: Fields | string): Promise<Response> {
  const body = { model: "stub/model", max_tokens: 16, messages: [user("Hello")] };
  return fetch(`${on.fleet.url()}/gpt/v1/messages`, {
    method: "POST",
    headers: { "x-api-key": key, "content-type": "application/json" },
    body: typeof fields === "string" ? fields : JSON.stringify({ ...body, ...fields }),
  });
}

const nested = (depth: number): string => `${"[".repeat(depth)}${"]".repeat(depth)}`;
const withMessages = (text: string): string => `{"model":"stub/model","max_tokens":16,"messages":${text}}`;
const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" } };
const asked = [user("a"), assistant([called("1")])];
const seal = wrappedSeal({ signer: "acme_one", seal: "S=" });

describe("a request is refused without a trace", () => {
  test.each<[string, Fields | string, ErrorCode, string | null]>([
    ["no JSON", "{", "invalid_request", null],
    ["a list", "[]", "invalid_request", null],
    ["messages that are too deep", withMessages(nested(64)), "invalid_request", null],
    [
      "too many fields",
      { metadata: Object.fromEntries(Array.from({ length: 5_001 }, (_, n) => [`f${n}`, ""])) },
      "invalid_request",
      null,
    ],
    ["too many values", { messages: [user(Array.from({ length: 70_000 }, () => said("")))] }, "invalid_request", null],
    ["half a pair", withMessages('[{"role":"user","content":"\\ud83d"}]'), "invalid_request", null],
    ["too many messages", { messages: Array.from({ length: 2_001 }, () => user("a")) }, "invalid_request", "messages"],
    [
      "a prototype",
      withMessages('[{"role":"user","content":"a","__proto__":{}}]'),
      "unsupported_parameter",
      "messages[0].__proto__",
    ],
    ["an image", { messages: [user([said("a"), image])] }, "unsupported_parameter", "messages[0].content[1]"],
    [
      "an image in a result",
      { messages: [...asked, user([result("1", [image])])] },
      "unsupported_parameter",
      "messages[2].content[0]",
    ],
    ["a call without its result", { messages: [...asked, user("b")] }, "invalid_request", "messages[1]"],
    [
      "a result without its call",
      { messages: [user([result("1", "x")])] },
      "invalid_request",
      "messages[0].content[0].tool_use_id",
    ],
    [
      "a tool of the provider",
      { tools: [{ type: "web_search_20250305", name: "web_search" }] },
      "unsupported_parameter",
      "tools[0].type",
    ],
    ["a thread", { thread: { type: "create" } }, "unsupported_parameter", "thread"],
    ["an unknown field", { n: 1 }, "unsupported_parameter", "n"],
  ])("%s", async (_, fields, code, param) => {
    const calls = on.stub.calls.length;
    const response = await post(on.refused.key, fields);
    expect(await response.json()).toEqual({
      type: "error",
      error: {
        type: messageErrorType(code),
        message: expect.any(String),
        code,
        param,
        ...(param === "thread" && { details: expect.any(Object) }),
      },
      request_id: null,
    });
    expect([response.status, response.headers.get("x-should-retry")]).toEqual([errorTable[code].status, "false"]);
    expect(response.headers.has("x-generation-id") || response.headers.has("x-request-id")).toBe(false);
    expect(on.stub.calls).toHaveLength(calls);
    await expectExactBalance(on.fleet.operator(), on.refused, { credit: "10", generations: 0 });
  });
});

describe("a value of another kind is refused by its place", () => {
  test.each<[string, Fields]>([
    ["invalid_request messages", { messages: "a" }],
    ["invalid_request messages[0]", { messages: [null] }],
    ["invalid_request messages[0].role", { messages: [{ content: "a" }] }],
    ["invalid_request messages[0].content", { messages: [{ role: "user" }] }],
    ["invalid_request messages[0].content", { messages: [user(7)] }],
    ["invalid_request messages[0].content[0]", { messages: [user(["a"])] }],
    ["invalid_request messages[0].content[0]", { messages: [user([{ text: "a" }])] }],
    ["invalid_request messages[0].content[0].text", { messages: [user([{ type: "text" }])] }],
    ["invalid_request messages[0].content[0].text", { messages: [user([{ type: "text", text: 1 }])] }],
    ["unsupported_parameter messages[0].content[0].n", { messages: [user([said("a", { n: 1 })])] }],
    ["unsupported_parameter messages[0].content[0]", { messages: [user([called("1")])] }],
    ["unsupported_parameter messages[0].content[0]", { messages: [user([{ type: "thinking", thinking: "", signature: seal }])] }],
    ["unsupported_parameter messages[1].content[0]", { messages: [user("a"), assistant([result("1", "x")])] }],
    [
      "invalid_request messages[1].content[0].signature",
      { messages: [user("a"), assistant([{ type: "thinking", thinking: "" }])] },
    ],
    [
      "invalid_request messages[1].content[0].thinking",
      { messages: [user("a"), assistant([{ type: "thinking", thinking: 7 }])] },
    ],
    ["invalid_request messages[1].content[0].data", { messages: [user("a"), assistant([{ type: "redacted_thinking" }])] }],
    ["invalid_request messages[1].content[0].input", { messages: [user("a"), assistant([{ ...called("1"), input: "{}" }])] }],
    ["invalid_request messages[1].content[0].id", { messages: [user("a"), assistant([{ ...called("1"), id: 7 }])] }],
    ["invalid_request messages[1].content[0].name", { messages: [user("a"), assistant([{ ...called("1"), name: null }])] }],
    ["invalid_request messages[2].content[0].is_error", { messages: [...asked, user([result("1", "x", { is_error: "no" })])] }],
    ["invalid_request messages[2].content[0].tool_use_id", { messages: [...asked, user([{ type: "tool_result" }])] }],
    ["invalid_request messages[2].content[0].content", { messages: [...asked, user([result("1", { a: 1 })])] }],
    [
      "invalid_request messages[2].content[0].content[0].tool_name",
      { messages: [...asked, user([result("1", [{ type: "tool_reference" }])])] },
    ],
    ["invalid_request system", { system: 7 }],
    ["unsupported_parameter system[0]", { system: [image] }],
    ["invalid_request system[0].cache_control.type", { system: [said("a", { cache_control: { type: "for ever" } })] }],
    ["invalid_request system[0].cache_control.ttl", { system: [said("a", { cache_control: { ...ephemeral, ttl: "1d" } })] }],
    ["invalid_request cache_control", { cache_control: "ephemeral" }],
    ["invalid_request max_tokens", { max_tokens: 1.5 }],
    ["invalid_request stream", { stream: "yes" }],
    ["invalid_request stop_sequences", { stop_sequences: "END" }],
    ["invalid_request stop_sequences[0]", { stop_sequences: [7] }],
    ["invalid_request thinking", { thinking: 7 }],
    ["invalid_request thinking.type", { thinking: { type: "deep" } }],
    ["invalid_request thinking.budget_tokens", { thinking: { type: "enabled", budget_tokens: 0 } }],
    ["invalid_request output_config", { output_config: [] }],
    ["invalid_request output_config.effort", { output_config: { effort: "extreme" } }],
    ["invalid_request output_config.format.type", { output_config: { format: { type: "text", schema: {} } } }],
    ["invalid_request output_config.format.schema", { output_config: { format: { type: "json_schema", schema: [] } } }],
    [
      "invalid_request messages[1].output_config.effort",
      { messages: [user("a"), { role: "system", content: "b", output_config: { effort: 1 } }] },
    ],
    ["invalid_request context_management", { context_management: "clear" }],
    ["invalid_request context_management.edits[0]", { context_management: { edits: ["clear_thinking_20251015"] } }],
    ["invalid_request metadata", { metadata: "someone" }],
    ["invalid_request metadata.user_id", { metadata: { user_id: 7 } }],
    ["invalid_request tools", { tools: {} }],
    ["invalid_request tools[0]", { tools: ["look_up"] }],
    ["invalid_request tools[0].name", { tools: [tool("x".repeat(129))] }],
    ["invalid_request tools[0].strict", { tools: [tool("a", { strict: "yes" })] }],
    ["invalid_request tools[0].allowed_callers", { tools: [tool("a", { allowed_callers: "direct" })] }],
    ["invalid_request tool_choice", { tools: [tool()], tool_choice: "auto" }],
    ["invalid_request tool_choice.name", { tools: [tool()], tool_choice: { type: "tool" } }],
    ["invalid_request diagnostics", { diagnostics: true }],
    ["invalid_request usage", { usage: true }],
  ])("%s for %j", (refused, fields) => expect(refusal(fields)).toBe(refused));
});

/** Has every kind of message and block. */
const valid: Fields = {
  model: "acme/one",
  max_tokens: 100,
  system: [said("s", { cache_control: { ...ephemeral, scope: "global" } })],
  tools: [
    tool("find", { description: "Finds", cache_control: ephemeral }),
    tool("fetch", { defer_loading: true, strict: false }),
  ],
  tool_choice: { type: "auto", disable_parallel_tool_use: true },
  thinking: { type: "enabled", budget_tokens: 5_000, display: "omitted" },
  output_config: { effort: "low", format: { type: "json_schema", schema: { type: "object", additionalProperties: false } } },
  context_management: { edits: [{ type: "clear_tool_uses_20250919", keep: { type: "tool_uses", value: 3 } }] },
  metadata: { user_id: "someone" },
  stop_sequences: ["END"],
  stream: true,
  messages: [
    user([said("a"), said("b", { cache_control: ephemeral })]),
    { role: "system", content: [said("late")], output_config: { effort: "high" } },
    assistant([
      { type: "thinking", thinking: "hm", signature: seal },
      { type: "redacted_thinking", data: seal },
      said("c"),
      called("1", "find", { q: 1 }),
      called("2", "find"),
    ]),
    user([result("2", [{ type: "tool_reference", tool_name: "fetch" }]), result("1", "x", { is_error: true }), said("d")]),
  ],
};

type Path = readonly (string | number)[];

function placesIn(value: unknown, at: Path = []): Path[] {
  const entries: [string | number, unknown][] = Array.isArray(value)
    ? [...value.entries()]
    : typeof value === "object" && value !== null
      ? Object.entries(value)
      : [];
  return entries.flatMap(([name, inner]) => [[...at, name], ...placesIn(inner, [...at, name])]);
}

/** The body with another value at a place. @param value as JSON text */
function withValue(place: Path, value: string): string {
  const mark = "\u0001here\u0001";
  const body = structuredClone(valid);
  const holder = place.slice(0, -1).reduce<unknown>((inner, name) => (inner as Fields)[name], body);
  (holder as Fields)[place.at(-1) ?? ""] = mark;
  return JSON.stringify(body).replace(JSON.stringify(mark), () => value);
}

/** Whether the path is one of the body, or of a field that an object of it lacks. */
function isIn(body: unknown, path: readonly string[]): boolean {
  let value: unknown = body;
  for (const name of path) {
    if (typeof value !== "object" || value === null) return false;
    value = (value as Fields)[name];
  }
  return true;
}

const places = placesIn(valid);
const rounds = 2_000;

test.each([1, crypto.getRandomValues(new Uint32Array(1))[0] ?? 0])(
  `each of ${rounds} requests with one other value is accepted, or refused by the path of a field in it: seed %p`,
  (seed) => {
    const dice = new Dice(seed);
    const outcomes = { accepted: 0, refused: 0 };
    for (let round = 0; round < rounds; round++) {
      const text = withValue(places[dice.below(places.length)] ?? [], weirdValue(dice));
      try {
        checkRequest(new TextEncoder().encode(text), messagesFormat({ version: null }), { find: () => everything });
        outcomes.accepted++;
      } catch (error) {
        if (!(error instanceof GatewayError)) throw new Error(`round ${round}: ${text}`, { cause: error });
        const { param, status } = error;
        expect([round, status]).toEqual([round, 400]);
        const isNamed = param === null || isIn(JSON.parse(text), readPathText(param));
        expect([round, param, isNamed]).toEqual([round, param, true]);
        outcomes.refused++;
      }
    }
    expect(outcomes.accepted).toBeGreaterThan(rounds / 50);
    expect(outcomes.refused).toBeGreaterThan(rounds / 5);
  },
);

test("forged thoughts of any form and length are read or left out, and never refused", () => {
  const forged = [
    ...Array.from({ length: seal.length + 1 }, (_, end) => seal.slice(0, end)),
    "w1..",
    "w1. .x",
    "w1.a",
    "W1.acme_one.S",
    "w1.acme one.S",
    "w2.acme_one.S",
    "w1.acme_one.\0\n",
    `w1.${"a".repeat(1_000_000)}`,
    `w1.acme_one.${"x".repeat(1_000_000)}`,
  ];
  const blocks = forged.flatMap((signature) => [
    { type: "thinking", thinking: "hm", signature },
    { type: "redacted_thinking", data: signature },
  ]);
  const { messages } = checked({ messages: [user("a"), assistant([...blocks, said("b")]), user("c")] }).chat.body;
  expect(JSON.parse(JSON.stringify(messages))).toEqual([
    { role: "user", content: "a" },
    { role: "assistant", content: "b" },
    { role: "user", content: "c" },
  ]);
});

test("an input as deep as a request may be is sent on whole", () => {
  // The request, its messages, the message, its content and the block are around it.
  const deep = (levels: number): Fields => JSON.parse(`${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`) as Fields;
  const messages = (levels: number) => [user("a"), assistant([called("1", "f", deep(levels))]), user([result("1", "x")])];
  expect(messagesOf(...messages(59))).toMatchObject([
    {},
    { tool_calls: [{ function: { arguments: JSON.stringify(deep(59)) } }] },
    {},
  ]);
  expect(refusal({ messages: messages(60) })).toBe("invalid_request null");
});

test("many empty blocks, many results and a long text reach the provider", async () => {
  const { key } = await on.customer();
  const calls = Array.from({ length: 5_000 }, (_, index) => called(`call_${index}`, "f"));
  const results = calls.map((call) => result(String(call["id"]), [said("")]));
  const empty = Array.from({ length: 30_000 }, () => said(""));
  const long = "x".repeat(3 * 1024 * 1024);
  const messages = [user([...empty, said(long)]), assistant(calls), user([...results, said("Go on")])];
  const response = await post(key, { messages });
  expect([response.status, response.status === 200 ? "" : await response.text()]).toEqual([200, ""]);
  const sent = on.stub.calls.at(-1)?.body["messages"] as Fields[];
  expect(sent).toHaveLength(5_003);
  expect(sent[0]?.["content"]).toBe(long);
});

describe("reading takes time in proportion to the request: what is read of it is counted", () => {
  /** @returns how often a field of a message or block is read */
  function readsOf(messages: Fields[]): number {
    let reads = 0;
    const watched = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(watched);
      if (typeof value !== "object" || value === null) return value;
      const inner = Object.fromEntries(Object.entries(value).map(([name, one]) => [name, watched(one)]));
      return new Proxy(inner, {
        get(target, name) {
          reads++;
          return Reflect.get(target, name);
        },
      });
    };
    readTurns({ system: undefined, messages: watched(messages) }, { request: {}, model: everything });
    return reads;
  }

  test.each<[string, (count: number) => Fields[]]>([
    ["empty blocks", (count) => [user([...Array.from({ length: count }, () => said("")), said("a")])]],
    [
      "messages",
      (count) =>
        Array.from({ length: count / 10 }, (_, index) => (index % 2 === 0 ? user("a") : assistant("b"))).concat(user("c")),
    ],
    [
      "calls and their results, in the other order",
      (count) => {
        const ids = Array.from({ length: count }, (_, index) => `call_${index}`);
        return [user("a"), assistant(ids.map((id) => called(id))), user(ids.toReversed().map((id) => result(id, "x")))];
      },
    ],
    [
      "thoughts of someone else",
      (count) => {
        const thought = { type: "thinking", thinking: "hm", signature: "ErcBCkgIARABGAIiQL" };
        return [user("a"), assistant([...Array.from({ length: count }, () => thought), said("b")]), user("c")];
      },
    ],
  ])("%s", (_, messagesWith) => {
    const [once, twice] = [readsOf(messagesWith(5_000)), readsOf(messagesWith(10_000))];
    expect(once).toBeGreaterThan(1_000);
    expect(twice).toBeLessThanOrEqual(2 * once);
  });
});
