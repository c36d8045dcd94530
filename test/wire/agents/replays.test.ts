/**
 * Messages and responses that a workspace keeps for repeated requests: the second request gets the first answer with all its blocks and
 * items from one call of the provider, on a model of each wire format.
 */
import { beforeAll, describe, expect, test } from "bun:test";
import type { JsonObject as Json } from "../../../src/http/json.ts";
import { expectExactLedger } from "../../support/gateway/exact-ledger.ts";
import type { Customer } from "../../support/operator.ts";
import { message } from "../../support/providers/anthropic-answers.ts";
import { googleChat } from "../../support/providers/google-answers.ts";
import { response } from "../../support/providers/responses-answers.ts";
import { chunk, completion, json, ManualStream, stream, type StubAnswer } from "../../support/providers/stub-answers.ts";
import type { Fleet } from "../../support/servers/fleet.ts";
import { formatsStage, type FormatProvider, type FormatsStage } from "../formats-stage.ts";

const call = { id: "call_a", type: "function", function: { name: "weather", arguments: '{"city":"Oslo"}' } };
const calledByChat: StubAnswer = (answer, asked) => {
  const whole = { role: "assistant", content: "I look. ", reasoning_content: "Where?", tool_calls: [call] };
  const { arguments: text } = call.function;
  const begun = { index: 0, ...call, function: { name: "weather", arguments: text.slice(0, 4) } };
  const pieces = [
    chunk({ reasoning_content: "Where?" }),
    chunk({ content: "I " }),
    chunk({ content: "look. " }),
    chunk({ tool_calls: [begun] }),
    chunk({ tool_calls: [{ index: 0, function: { arguments: text.slice(4) } }] }),
    chunk({}, "tool_calls"),
  ];
  (asked.streamed ? stream(pieces) : json(completion(whole, "tool_calls")))(answer, asked);
};

/** A thought, a text and a call, as each format has them. */
const models: Record<FormatProvider, { model: string; answer: StubAnswer }> = {
  claude: {
    model: "thoughts/adaptive",
    answer: message("I look. ", {
      thoughts: [{ type: "thinking", thinking: "Where?", signature: "c2lnbmVk" }],
      calls: [{ id: "toolu_a", name: "weather", input: { city: "Oslo" } }],
    }),
  },
  google: {
    model: "thoughts/google",
    answer: googleChat([
      { text: "Where?", thought: true },
      { text: "I " },
      { text: "look. " },
      { functionCall: { name: "weather", args: { city: "Oslo" } }, thoughtSignature: "c2lnbmVk" },
    ]),
  },
  responses: {
    model: "thoughts/responses",
    answer: response("I look. ", {
      summary: ["Where?"],
      encrypted: "c2VhbGVk",
      calls: [{ call_id: "call_a", name: "weather", arguments: '{"city":"Oslo"}' }],
    }),
  },
  other: { model: "thoughts/other", answer: calledByChat },
};
const parameters = { type: "object", properties: { city: { type: "string" } } };

/** A request of each endpoint with a hint that it leaves out. */
const requests = {
  messages: {
    max_tokens: 500,
    messages: [{ role: "user", content: "Weather?" }],
    tools: [{ name: "weather", input_schema: parameters }],
    context_management: { edits: [{ type: "clear_thinking_20251015", keep: "all" }] },
  },
  responses: {
    input: "Weather?",
    tools: [{ type: "function", name: "weather", parameters }, { type: "web_search" }],
  },
} as const;
type Endpoint = keyof typeof requests;

const credit = "10";
let stage: FormatsStage;
let fleet: Fleet;
beforeAll(async () => {
  stage = await formatsStage();
  ({ fleet } = stage);
}, 60_000);

async function customer(settings: Json = { idempotent_replay: true }): Promise<Customer> {
  const made = await fleet.operator().customer({ credit });
  await fleet.operator().call("PATCH", `/workspaces/${made.workspace}`, settings);
  return made;
}

function send({ keys }: Customer, endpoint: Endpoint, fields: Json): Promise<Response> {
  return fetch(`${fleet.url()}/gpt/v1/${endpoint}`, {
    method: "POST",
    headers: { authorization: `Bearer ${keys[0]?.key}`, "content-type": "application/json", "idempotency-key": "order-1" },
    body: JSON.stringify({ ...requests[endpoint], ...fields }),
  });
}

const cases = (["claude", "google", "responses", "other"] as const).flatMap((provider) =>
  (["messages", "responses"] as const).flatMap((endpoint) =>
    [false, true].map((streamed) => [provider, endpoint, streamed] as const),
  ),
);

test.each(cases)("behind %s, %s (streamed: %p)", async (provider, endpoint, streamed) => {
  const made = await customer();
  const stub = stage.stub(provider);
  const { model, answer } = models[provider];
  stub.answer(answer);
  const body = { model, stream: streamed };
  const first = await send(made, endpoint, body);
  const before = await first.text();
  await expectExactLedger(fleet.operator(), made, { credit, generations: 1 });
  const calls = stub.calls.length;
  const again = await send(made, endpoint, body);
  const after = await again.text();
  expect([first.status, again.status, stub.calls.length]).toEqual([200, 200, calls]);
  expectSameHeaders(first, again, endpoint);
  if (streamed) expect(toldBy(after)).toEqual(toldBy(before));
  else expect(JSON.parse(after)).toEqual(JSON.parse(before));
  for (const part of ["Where?", "I look. ", "weather", "Oslo"]) expect(after).toContain(part);
  const rows = await expectExactLedger(fleet.operator(), made, { credit, generations: 2 });
  const generation = first.headers.get("x-generation-id");
  expect(rows.map(({ replayed_from }) => replayed_from)).toEqual([generation, null]);
  expect(rows[0]).toMatchObject({ endpoint, cost_usd: "0.000000000", status: 200, streamed });
});

function expectSameHeaders(first: Response, again: Response, endpoint: Endpoint): void {
  const of = (name: string): (string | null)[] => [first, again].map(({ headers }) => headers.get(name));
  expect(of("idempotent-replayed")).toEqual([null, "true"]);
  for (const name of ["x-generation-id", "content-type", "x-ignored-fields"])
    expect([name, new Set(of(name)).size]).toEqual([name, 1]);
  if (endpoint === "responses") expect(of("x-ignored-fields")).toEqual(["tools[1]", "tools[1]"]);
  expect(new Set(of("x-request-id")).size).toBe(2);
  if (endpoint === "messages") expect(again.headers.get("request-id")).toBe(again.headers.get("x-request-id"));
}

/** What a stream says, however its texts are cut: each event, and the deltas of one place as one. The counts at its start are a guess. */
function toldBy(text: string): Json[] {
  const events: Json[] = [];
  for (const line of text.split("\n\n").flatMap((one) => /^event: \S+\ndata: (\{.*\})$/.exec(one)?.[1] ?? [])) {
    const { sequence_number: _number, message: begun, ...event } = JSON.parse(line) as Json;
    if (begun !== undefined) event["message"] = { ...(begun as Json), usage: null };
    const last = events.at(-1);
    const text = textOf(event);
    if (last === undefined || text === null || textOf(last) !== text) events.push(event);
    else last["delta"] = joined(last["delta"], event["delta"]);
  }
  return events;
}

/** The kind of text of which an event is a delta; null: it is none. */
function textOf({ type, delta }: Json): string | null {
  if (!String(type).endsWith("delta") || type === "message_delta") return null;
  return `${String(type)} ${String((delta as Partial<Json>)["type"])}`;
}

/** Two deltas of one text; those of Messages are objects with the text in one field. */
function joined(text: unknown, more: unknown): unknown {
  if (typeof text === "string") return text + String(more);
  const pairs = Object.entries(text as Json).map(([name, value]): [string, unknown] => {
    return [name, name === "type" ? value : `${String(value)}${String((more as Json)[name])}`];
  });
  return Object.fromEntries(pairs);
}

test.each(["messages", "responses"] as const)(
  "a client that left %s gets all of it by a repetition, where the provider's answer was read to its end",
  async (endpoint) => {
    const made = await customer();
    const provider = new ManualStream();
    stage.stub("other").answerOnce(provider.answer);
    const body = { model: "thoughts/other", stream: true };
    const sent = send(made, endpoint, body);
    await provider.piece("It ");
    const first = await sent;
    const reader = first.body?.getReader();
    await reader?.read();
    await reader?.cancel();
    // The service nearly always knows by then that its client is gone; otherwise the answer is whole in time, and kept too.
    await fleet.operator().show(made.workspace);
    await provider.piece("rains.");
    await provider.finish();
    const rows = await expectExactLedger(fleet.operator(), made, { credit, generations: 1 });
    expect(["client_gone", null]).toContain(rows[0]?.code as string | null);
    expect(rows[0]).toMatchObject({ completion_tokens: 1, usage_estimated: false });
    const calls = stage.stub("other").calls.length;
    const again = await send(made, endpoint, body);
    const texts = [...(await again.text()).matchAll(/"(?:text|delta)":"([^"]*)"/g)].map(([, text]) => text);
    expect(texts).toContain("It rains.");
    expect(again.headers.get("x-generation-id")).toBe(first.headers.get("x-generation-id"));
    expect(stage.stub("other").calls.length).toBe(calls);
    await expectExactLedger(fleet.operator(), made, { credit, generations: 2 });
  },
);

describe("an answer is not kept", () => {
  test.each<[string, Json]>([
    ["without the setting", { idempotent_replay: false }],
    ["with zero data retention", { idempotent_replay: true, zero_data_retention: true }],
  ])("%s: the second request is refused, in each API's own form", async (_, settings) => {
    const made = await customer(settings);
    const model = "sandbox/echo";
    for (const endpoint of ["messages", "responses"] as const) expect((await send(made, endpoint, { model })).status).toBe(200);
    await expectExactLedger(fleet.operator(), made, { credit, generations: 2 });
    for (const endpoint of ["messages", "responses"] as const) {
      const again = await send(made, endpoint, { model });
      expect([again.status, again.headers.get("x-should-retry")]).toEqual([409, "false"]);
      expect(((await again.json()) as Json)["error"]).toMatchObject({ code: "idempotency_spent" });
    }
    await expectExactLedger(fleet.operator(), made, { credit, generations: 2 });
  });
});
