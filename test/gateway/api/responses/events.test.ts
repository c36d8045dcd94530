/** The events of a streamed response, and the whole answer with the same items. Each is held against the official schema too. */
import { describe, expect, test } from "bun:test";
import { Value } from "@sinclair/typebox/value";
import fc from "fast-check";
import { ResponseBody } from "../../../../src/gateway/api/responses/answer.ts";
import { ResponseEvents } from "../../../../src/gateway/api/responses/events.ts";
import { upstreamAnswerBytesMax } from "../../../../src/gateway/limits.ts";
import {
  UpstreamFailure,
  type AnswerPiece,
  type FinishReason,
  type ProviderEvent,
  type WholeAnswer,
} from "../../../../src/gateway/providers/provider.ts";
import { contextHint } from "../../../../src/gateway/providers/wire/errors.ts";
import { readPackedThought } from "../../../../src/gateway/thoughts.ts";
import type { Body } from "../../../support/gateway/check-chat.ts";
import { checkResponse, plain } from "../../../support/gateway/check-response.ts";
import { end, FakeEvents, finish, text } from "../../../support/providers/fake-events.ts";
import { allOf, charged, openRelay } from "../../../support/providers/open-relay.ts";
import { conformingEvent, eventTypes, officialEvent, WholeResponse } from "../../../wire/agents/response-schemas.ts";
import { conforming } from "../../../wire/schemas.ts";

const id = `gen-${"a".repeat(26)}`;
const facts = { id, created: 1_700_000_000, model: "acme/one", signer: "acme_one", usage: charged };
const delta = (fields: Body): AnswerPiece => ({ kind: "delta", delta: fields, finishReason: null });
const think = (reasoning_content: string): AnswerPiece => delta({ reasoning_content });
const thought = (seal: string, redacted = false): AnswerPiece => ({ kind: "thought", seal, redacted });
const calls = (index: number, name: string, pieces: string[]): AnswerPiece[] => [
  delta({ tool_calls: [{ index, id: `call_${index}`, type: "function", function: { name, arguments: pieces[0] ?? "" } }] }),
  ...pieces.slice(1).map((more) => delta({ tool_calls: [{ index, function: { arguments: more } }] })),
];
const failure = (
  code: "upstream_error" | "upstream_timeout" | "upstream_rejected" | "upstream_rate_limited",
  hint: never | null = null,
): ProviderEvent => ({
  kind: "failure",
  failure: new UpstreamFailure(code, "by the test", hint),
});

interface Event extends Body {
  type: string;
  sequence_number: number;
}

async function streamed(events: (ProviderEvent | null)[], fields: Body = {}, model = plain): Promise<Event[]> {
  const writer = checkResponse({ stream: true, ...fields }, model).format.streamWriter({
    ...facts,
    includeUsage: true,
    promptTokens: 5,
  });
  const { stream } = openRelay({ events: new FakeEvents(events), options: { writer } });
  const lines = (await allOf(stream)).split("\n\n").filter((one) => one !== "");
  return lines.map((one) => {
    const [, type, data = ""] = /^event: (\S+)\ndata: (.*)$/.exec(one) ?? [];
    const event: Event = JSON.parse(data);
    expect(event.type).toBe(String(type));
    expect(officialEvent(conformingEvent(event)).type).toBe(event.type as never);
    return event;
  });
}

function whole(answer: Partial<WholeAnswer>, fields: Body = {}, model = plain): Body {
  const message = { role: "assistant", content: null, refusal: null } as const;
  const read = { message, finishReason: "stop", logprobs: null, usage: null, ...answer } as const;
  const body: Body = JSON.parse(checkResponse(fields, model).format.wholeText(read, facts));
  for (const schema of [ResponseBody, WholeResponse]) expect<unknown>(conforming(schema, body)).toBe(body);
  return body;
}

const typesOf = (events: Event[]): string[] => events.map(({ type }) => type.replace("response.", ""));
const lastOf = (events: Event[]): Body => (events.at(-1)?.["response"] ?? {}) as Body;
const outputOf = (events: Event[]): Body[] => lastOf(events)["output"] as Body[];

describe("a stream", () => {
  test("has its events in order: each item is added, grows and is done, and the last event has them all", async () => {
    const events = await streamed([
      think("Hm"),
      thought("S"),
      text("He"),
      text("llo"),
      ...calls(0, "look_up", ['{"a":', "1}"]),
      finish("tool_calls"),
      end,
    ]);
    expect(typesOf(events)).toEqual([
      "created",
      "in_progress",
      "output_item.added",
      "reasoning_summary_part.added",
      "reasoning_summary_text.delta",
      "reasoning_summary_text.done",
      "reasoning_summary_part.done",
      "output_item.done",
      "output_item.added",
      "content_part.added",
      "output_text.delta",
      "output_text.delta",
      "output_text.done",
      "content_part.done",
      "output_item.done",
      "output_item.added",
      "function_call_arguments.delta",
      "function_call_arguments.delta",
      "function_call_arguments.done",
      "output_item.done",
      "completed",
    ]);
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, index) => index));
    const done = events.filter(({ type }) => type === "response.output_item.done");
    expect(done.map(({ output_index: index }) => index)).toEqual([0, 1, 2]);
    expect(done.map(({ item }) => item as Body)).toEqual(outputOf(events));
  });

  test("begins with the response in progress, without instructions and tools, and ends with all of it", async () => {
    const tools = [{ type: "function", name: "look_up" }];
    const events = await streamed([text("Hi"), finish(), end], {
      instructions: "Be brief",
      tools,
      temperature: 1,
      metadata: { a: "b" },
    });
    const common = {
      id: `resp_${"a".repeat(26)}`,
      object: "response",
      created_at: 1_700_000_000,
      model: "acme/one",
      temperature: 1,
      metadata: { a: "b" },
    };
    for (const event of events.slice(0, 2)) {
      expect(event["response"]).toMatchObject({
        ...common,
        status: "in_progress",
        output: [],
        instructions: null,
        tools: [],
        usage: null,
      });
    }
    expect(lastOf(events)).toMatchObject({
      ...common,
      status: "completed",
      completed_at: 1_700_000_000,
      instructions: "Be brief",
      tools: [{ type: "function", name: "look_up", parameters: null, strict: false }],
      usage: { input_tokens: 5, output_tokens: 7, total_tokens: 12 },
    });
  });

  test("keeps each item's id, type and place from its first event to the last", async () => {
    const events = await streamed([text("a"), ...calls(0, "look_up", ["{}"]), text("b"), finish(), end]);
    const ids = outputOf(events).map((item) => item["id"]);
    expect(ids).toEqual(["msg", "fc", "msg"].map((prefix, index) => `${prefix}_${"a".repeat(26)}_${index}`));
    for (const event of events.filter(({ item_id: item }) => item !== undefined)) {
      expect(event["item_id"]).toBe(ids[Number(event["output_index"])]);
    }
  });

  test("joins a text and the refusal that follows it to one message of two parts", async () => {
    const events = await streamed([text("Well"), delta({ refusal: "No" }), finish(), end]);
    expect(outputOf(events)).toMatchObject([
      {
        type: "message",
        status: "completed",
        content: [
          { type: "output_text", text: "Well" },
          { type: "refusal", refusal: "No" },
        ],
      },
    ]);
    expect(events.filter(({ type }) => type === "response.content_part.added").map(({ content_index: index }) => index)).toEqual([
      0, 1,
    ]);
  });

  test("tells a call's namespace, and gives a custom tool its text and a search its object", async () => {
    const tools = [
      { type: "namespace", name: "clock", tools: [{ type: "function", name: "sleep" }] },
      { type: "custom", name: "apply_patch" },
      { type: "tool_search", execution: "client" },
    ];
    const events = await streamed(
      [
        ...calls(0, "clock__sleep", ['{"ms":1}']),
        ...calls(1, "apply_patch", ['{"inp', 'ut":"*** \\"Begin\\""}']),
        ...calls(2, "tool_search", ['{"query":"x"}']),
        ...calls(3, "unknown", ["{}"]),
        finish("tool_calls"),
        end,
      ],
      { tools },
    );
    expect(outputOf(events)).toMatchObject([
      { type: "function_call", call_id: "call_0", name: "sleep", namespace: "clock", arguments: '{"ms":1}' },
      { type: "custom_tool_call", call_id: "call_1", name: "apply_patch", input: '*** "Begin"' },
      { type: "tool_search_call", call_id: "call_2", execution: "client", arguments: { query: "x" }, status: "completed" },
      { type: "function_call", call_id: "call_3", name: "unknown" },
    ]);
    const deltas = events.filter(({ type }) => type === "response.custom_tool_call_input.delta");
    expect(deltas.map((event) => event["delta"])).toEqual(['*** "Begin"']);
  });

  test("gives the log probabilities with the texts that they belong to", async () => {
    const token = { token: "Hi", logprob: -1, bytes: null, top_logprobs: [{ token: "Ho", logprob: -2, bytes: [72] }] };
    const piece: ProviderEvent = { ...delta({ content: "Hi" }), logprobs: { content: [token] } } as ProviderEvent;
    const events = await streamed([piece, text("!"), finish(), end]);
    const deltas = events.filter(({ type }) => type === "response.output_text.delta").map((event) => event["logprobs"]);
    const shown = [{ ...token, bytes: [], top_logprobs: [{ token: "Ho", logprob: -2, bytes: [72] }] }];
    expect(deltas).toEqual([shown, []]);
    expect(outputOf(events)).toMatchObject([{ content: [{ logprobs: shown }] }]);
  });
});

describe("a thought", () => {
  test("comes as a text of ours that only its model gets back, whatever `include` says", async () => {
    for (const include of [undefined, [], ["reasoning.encrypted_content"]]) {
      const events = await streamed([think("Hm"), thought("S+/="), text("So"), finish(), end], { include });
      const [item = {}] = outputOf(events);
      expect(item["summary"]).toEqual([{ type: "summary_text", text: "Hm" }]);
      expect(readPackedThought(String(item["encrypted_content"]))).toEqual({ signer: "acme_one", text: "Hm", seal: "S+/=" });
    }
  });

  test("that its provider does not show has no summary", async () => {
    const events = await streamed([thought("D", true), text("So"), finish(), end]);
    const [item = {}] = outputOf(events);
    expect(item["summary"]).toEqual([]);
    expect(readPackedThought(String(item["encrypted_content"]))).toEqual({
      signer: "acme_one",
      text: "",
      seal: "D",
      redacted: true,
    });
  });
});

describe("the end of an answer", () => {
  test("at its bound is incomplete, and so is the item that it cuts", async () => {
    const events = await streamed([text("Hi"), finish("length"), end]);
    expect(typesOf(events).at(-1)).toBe("incomplete");
    expect(lastOf(events)).toMatchObject({
      status: "incomplete",
      incomplete_details: { reason: "max_output_tokens" },
      completed_at: null,
    });
    expect(outputOf(events)).toMatchObject([{ status: "incomplete" }]);
    expect(whole({ message: { role: "assistant", content: "Hi", refusal: null }, finishReason: "length" })).toMatchObject({
      status: "incomplete",
      output: [{ status: "incomplete" }],
    });
  });

  test("in the middle of a call leaves the call incomplete", async () => {
    const events = await streamed([...calls(0, "look_up", ['{"a":']), finish("length"), end]);
    expect(outputOf(events)).toMatchObject([{ type: "function_call", status: "incomplete", arguments: '{"a":' }]);
  });

  test("by a filter is incomplete, unless the model says why", async () => {
    const filtered: ProviderEvent = { kind: "delta", delta: {}, finishReason: "content_filter" };
    expect(lastOf(await streamed([text("Hi"), filtered, end]))).toMatchObject({
      incomplete_details: { reason: "content_filter" },
    });
    expect(lastOf(await streamed([delta({ refusal: "No" }), filtered, end]))).toMatchObject({ status: "completed" });
  });

  test("without a word is a complete response without items", async () => {
    const events = await streamed([end]);
    expect(typesOf(events)).toEqual(["created", "in_progress", "completed"]);
    expect(outputOf(events)).toEqual([]);
  });
});

describe("a failure is one last event, with the charged usage", () => {
  test.each<[string, ProviderEvent | null, string]>([
    ["of the provider", failure("upstream_error"), "server_error"],
    ["by time", failure("upstream_timeout"), "server_error"],
    ["by a limit", failure("upstream_rate_limited"), "rate_limit_exceeded"],
    ["by a refusal", failure("upstream_rejected"), "invalid_prompt"],
    ["by the context", failure("upstream_rejected", contextHint as never), "context_length_exceeded"],
    ["as a break", null, "server_error"],
  ])("%s", async (_, failed, code) => {
    const events = await streamed([text("Hi"), failed]);
    expect(typesOf(events).filter((type) => ["completed", "incomplete", "failed", "error"].includes(type))).toEqual(["failed"]);
    expect(lastOf(events)).toMatchObject({ status: "failed", error: { code }, usage: { output_tokens: 7 } });
  });

  test("before the first piece has the two events of a beginning before it", async () => {
    expect(typesOf(await streamed([failure("upstream_error")]))).toEqual(["created", "in_progress", "failed"]);
  });

  test("in the middle of a call reports no such call as done", async () => {
    const events = await streamed([text("Hi"), ...calls(0, "look_up", ['{"a":1']), failure("upstream_error")]);
    expect(typesOf(events).filter((type) => type === "output_item.done")).toHaveLength(1);
    expect(outputOf(events).map((item) => item["type"])).toEqual(["message"]);
  });

  test("is what becomes of an answer that would fill the memory", async () => {
    const large = text("x".repeat(upstreamAnswerBytesMax / 4));
    const events = await streamed([large, large, large, large, large, finish(), end]);
    expect(typesOf(events).at(-1)).toBe("failed");
  });
});

test("a quiet stream is kept open by a comment, and begins with its first piece", () => {
  const { keepAlive, beginsFirst } = checkResponse({ stream: true }).format.streamWriter({
    ...facts,
    includeUsage: true,
    promptTokens: 5,
  });
  expect(keepAlive).toBe(": keep-alive\n");
  expect(beginsFirst).toBeUndefined();
});

const pieces = fc.array(
  fc.oneof(
    fc.constantFrom("a", "Hi ", "").map((one) => delta({ content: one })),
    fc.constantFrom("Hm", "").map(think),
    fc.constant(delta({ refusal: "No" })),
    fc.tuple(fc.constantFrom("S", ""), fc.boolean()).map(([seal, redacted]) => thought(seal, redacted)),
    fc.integer({ min: 0, max: 2 }).map((index) => delta({ tool_calls: [{ index, function: { arguments: '{"a":1}' } }] })),
    fc
      .integer({ min: 0, max: 2 })
      .map((index) => delta({ tool_calls: [{ index, id: `c${index}`, function: { name: "apply_patch", arguments: "" } }] })),
    fc
      .integer({ min: 0, max: 2 })
      .map((index) => delta({ tool_calls: [{ index, id: `d${index}`, type: "custom", custom: { name: "x", input: "y" } }] })),
  ),
  { maxLength: 12 },
);

test("any answer has events as the document describes them, and the same items whole and streamed", async () => {
  const reasons = fc.constantFrom<FinishReason>("stop", "tool_calls");
  await fc.assert(
    fc.asyncProperty(pieces, reasons, async (answer, finishReason) => {
      const fields = { tools: [{ type: "custom", name: "apply_patch" }] };
      const events = await streamed([...answer, { kind: "delta", delta: {}, finishReason }, end], fields);
      for (const event of events) expect([event.type, Value.Check(ResponseEvents, event)]).toEqual([event.type, true]);
      expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, index) => index));
      expect(whole({ pieces: answer, finishReason }, fields)["output"]).toEqual(outputOf(events));
    }),
    { numRuns: 60 },
  );
});

test("every kind of event is valid by the official schema", async () => {
  const tools = [
    { type: "custom", name: "apply_patch", description: null, format: { type: "grammar", syntax: "regex", definition: "a" } },
    { type: "namespace", name: "clock", tools: [{ type: "function", name: "sleep", parameters: {} }] },
    { type: "tool_search", execution: "client", description: "Searches", parameters: null },
    { type: "function", name: "look_up" },
  ];
  const text = { verbosity: "low", format: { type: "json_schema", name: "x", schema: {}, description: null, strict: true } };
  const fields = {
    tools,
    text,
    tool_choice: { type: "allowed_tools", mode: "auto", tools: [{ type: "function", name: "look_up" }] },
    reasoning: { effort: "low", summary: "auto", context: null },
    instructions: "Be brief",
    metadata: { a: "b" },
  };
  const custom = { index: 4, id: "call_4", type: "custom", custom: { name: "apply_patch", input: "*** Begin" } };
  const said: ProviderEvent[] = [
    think("Hm"),
    thought("S"),
    delta({ content: "So" }),
    delta({ refusal: "No" }),
    ...calls(0, "look_up", ["{", "}"]),
    ...calls(1, "clock__sleep", ["{}"]),
    ...calls(2, "tool_search", ["{}"]),
    delta({ tool_calls: [custom] }),
  ];
  const ends: [ProviderEvent, ...ProviderEvent[]][] = [
    [finish("tool_calls"), end],
    [finish("length"), end],
    [failure("upstream_error")],
    [failure("upstream_rejected")],
    [failure("upstream_rate_limited")],
    [failure("upstream_rejected", contextHint as never)],
  ];
  const seen = new Set<string>();
  for (const last of ends) for (const { type } of await streamed([...said, ...last], fields)) seen.add(type);
  expect([...seen].toSorted()).toEqual(eventTypes.toSorted());
});

describe("a whole answer", () => {
  test("repeats the request, keeps nothing, and has the charged usage", () => {
    const asked = {
      instructions: "Be brief",
      reasoning: { effort: "low" },
      text: { verbosity: "low" },
      max_output_tokens: 9,
      tool_choice: "auto",
    };
    const answer = whole({ message: { role: "assistant", content: "Hi", refusal: null } }, asked);
    expect(answer).toEqual({
      id: `resp_${"a".repeat(26)}`,
      object: "response",
      created_at: 1_700_000_000,
      completed_at: 1_700_000_000,
      status: "completed",
      error: null,
      incomplete_details: null,
      model: "acme/one",
      output: [
        {
          id: `msg_${"a".repeat(26)}_0`,
          type: "message",
          status: "completed",
          role: "assistant",
          content: [{ type: "output_text", text: "Hi", annotations: [], logprobs: [] }],
        },
      ],
      instructions: "Be brief",
      tools: [],
      metadata: {},
      parallel_tool_calls: true,
      temperature: null,
      top_p: null,
      top_logprobs: 0,
      tool_choice: "auto",
      text: { format: { type: "text" }, verbosity: "low" },
      reasoning: { effort: "low", summary: null },
      max_output_tokens: 9,
      previous_response_id: null,
      store: false,
      background: false,
      truncation: "disabled",
      service_tier: "default",
      access_programs: null,
      usage: {
        input_tokens: 5,
        input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
        output_tokens: 7,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: 12,
      },
    });
  });

  test("has reasoning, text and calls as items", () => {
    const tool_calls = [{ id: "call_0", type: "function", function: { name: "look_up", arguments: "{}" } }];
    const message = { role: "assistant", content: "Hi", refusal: null, reasoning_content: "Hm", tool_calls } as const;
    const { output } = whole({ message, finishReason: "tool_calls" });
    expect(output).toMatchObject([{ type: "reasoning" }, { type: "message" }, { type: "function_call", call_id: "call_0" }]);
  });
});
