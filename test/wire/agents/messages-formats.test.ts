/** An agent's requests to Messages on models behind every wire format, in turns as a session has them. */
import { beforeAll, describe, expect, test } from "bun:test";
import type { JsonObject as Json } from "../../../src/http/json.ts";
import { scripted, weatherTool, report } from "../../frameworks/scripted-model.ts";
import { expectExactBalance, expectExactLedger } from "../../support/gateway/exact-ledger.ts";
import type { Customer } from "../../support/operator.ts";
import type { ProviderStub } from "../../support/providers/provider-stub.ts";
import { error } from "../../support/providers/stub-answers.ts";
import type { Fleet } from "../../support/servers/fleet.ts";
import { agentRequest, namedEvents, send, type Turn } from "./session.ts";
import { streamedBlocks } from "./thinkers.ts";
import { modelOf, stage } from "../stage.ts";
import { first, upstreams } from "../upstreams.ts";

const input_schema = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
  additionalProperties: false,
};
const tools = [{ name: weatherTool, input_schema }];

describe.each(upstreams)("a model behind $name", ({ name: format, whole, streams, errors }) => {
  let fleet: Fleet;
  let stub: ProviderStub;
  let made: Customer;
  const model = modelOf(format);
  const text = first(whole, ({ expected }) => expected?.finishReason === "stop" && !!expected.content && !!expected.usage);
  const textStream = first(streams, (one) => one.finishReason === "stop" && one.text !== "" && one.usage !== null);
  const callStream = first(streams, (one) => one.finishReason === "tool_calls");
  const broken = first(streams, (one) => one.failure !== null && one.finishReason === null && one.text !== "");
  const tooLong = first(errors, ({ hint }) => hint === "maximum context length");
  const otherFormat = format === "openai" ? "anthropic" : "openai";
  let other: ProviderStub;

  beforeAll(async () => {
    const on = await stage("embedded");
    ({ fleet } = on);
    other = on.stub(otherFormat);
    stub = on.stub(format);
    made = await fleet.operator().customer({ credit: "10" });
  }, 90_000);

  const ask = (body: Json): Promise<Response> => send(fleet, made.keys[0]?.key ?? "", { model, max_tokens: 300, ...body });
  const hello = { messages: [{ role: "user", content: "Hello" }] };
  const prompted = (usage: { promptTokens: number | null; cachedTokens: number; cacheWriteTokens: number } | null) =>
    (usage?.promptTokens ?? 0) - (usage?.cachedTokens ?? 0) - (usage?.cacheWriteTokens ?? 0);

  test("answers in blocks, with the provider's counts apart by the cache", async () => {
    stub.answerOnce(text.answer);
    const response = await ask(hello);
    const body = (await response.json()) as { content: Json[]; usage: Json };
    expect(
      body.content
        .filter(({ type }) => type === "text")
        .map((block) => block["text"])
        .join(""),
    ).toBe(text.expected?.content ?? "");
    expect(body.usage).toMatchObject({
      input_tokens: prompted(text.expected?.usage ?? null),
      cache_read_input_tokens: text.expected?.usage?.cachedTokens ?? 0,
      cache_creation_input_tokens: text.expected?.usage?.cacheWriteTokens ?? 0,
    });
  });

  test("streams blocks one after another, and one start and one end", async () => {
    stub.answerOnce(textStream.answer);
    const events = namedEvents(await (await ask({ ...hello, stream: true })).text());
    expect(textIn(events)).toBe(textStream.text);
    expect(events.filter(({ type }) => type === "message_start")).toHaveLength(1);
    expect(events.at(-1)).toEqual({ type: "message_stop" });
    expect(events.at(-2)).toMatchObject({ usage: { input_tokens: prompted(textStream.usage) } });
  });

  test("streams calls with whole inputs, and stops for them", async () => {
    stub.answerOnce(callStream.answer);
    const names = callStream.toolCalls.map(({ name }) => ({ name, input_schema: { type: "object" } }));
    const events = namedEvents(await (await ask({ ...hello, tools: names, stream: true })).text());
    expect(callsIn(events).map(({ name, input }) => ({ name, input }))).toEqual(
      callStream.toolCalls.map(({ name, arguments: args }) => ({ name, input: JSON.parse(args || "{}") as unknown })),
    );
    expect(events.at(-2)).toMatchObject({ delta: { stop_reason: "tool_use" } });
    const begun = events.flatMap(({ content_block: block }) =>
      (block as Json | undefined)?.["type"] === "tool_use" ? [block] : [],
    );
    expect(begun).toEqual(begun.map((block) => ({ ...(block as Json), input: {} })));
  });

  test("says by how much a prompt is too long that its provider refuses, in the words that agents act on", async () => {
    const own = await fleet.operator().customer({ credit: "10" });
    stub.answerOnce(tooLong.answer);
    const response = await send(fleet, own.keys[0]?.key ?? "", { model, max_tokens: 300, ...hello });
    const { error: told } = (await response.json()) as { error: Json };
    expect([response.status, told["type"], told["code"]]).toEqual([400, "invalid_request_error", "upstream_rejected"]);
    const [, tokens, maximum] = /^prompt is too long: (\d+) tokens > (\d+) maximum$/.exec(String(told["message"])) ?? [];
    expect(Number(tokens)).toBeGreaterThan(Number(maximum));
    await expectExactBalance(fleet.operator(), own, { credit: "10", generations: 1, costNano: 0n });
  });

  test("serves with the workspace's own key, in place of another model, and never against zero data retention", async () => {
    const own = await fleet.operator().customer({ credit: "10" });
    const set = (fields: Json) => fleet.operator().call("PATCH", `/workspaces/${own.workspace}`, fields);
    const asked = (fields: Json): Promise<Response> =>
      send(fleet, own.keys[0]?.key ?? "", { model, max_tokens: 300, ...hello, ...fields });
    await set({ early_access: ["own_keys", "routing"] });
    other.answerOnce(error(500));
    const routed = await asked({ model: modelOf(otherFormat), models: [model] });
    expect([routed.status, routed.headers.get("x-route")]).toEqual([200, `${format}/${model}`]);
    expect(await routed.json()).toMatchObject({ type: "message", model: modelOf(otherFormat) });
    const key = "sk-own-key-of-the-customer";
    await fleet.operator().call("POST", "/provider-keys", { workspace: own.workspace, provider: format, key });
    expect((await asked({})).status).toBe(200);
    const { headers } = stub.calls.at(-1) ?? {};
    expect(Object.values(headers ?? {}).some((value) => value.replace("Bearer ", "") === key)).toBe(true);
    const rows = await expectExactBalance(fleet.operator(), own, { credit: "10", generations: 2 });
    const unpaid = { own_key: true, endpoint: "messages", cost_usd: "0.000000000" };
    expect<unknown>(rows).toEqual(expect.arrayContaining([expect.objectContaining(unpaid)]));
    await set({ zero_data_retention: true });
    const before = stub.calls.length;
    expect((await asked({})).status).toBe(503);
    expect(stub.calls).toHaveLength(before);
  });

  test("ends a stream that breaks with an error", async () => {
    stub.answerOnce(broken.answer);
    const events = namedEvents(await (await ask({ ...hello, stream: true })).text());
    expect(textIn(events)).toBe(broken.text);
    expect(events.at(-1)).toMatchObject({ type: "error", error: { code: "upstream_error" } });
  });

  test.each([false, true])("runs a loop of tools to its end (streamed: %p)", async (stream) => {
    const messages: Json[] = [{ role: "user", content: "How are Oslo and Rome?" }];
    const turn = async (): Promise<Json[]> => {
      stub.answerOnce(scripted[format] ?? text.answer);
      const response = await ask({ messages, tools, stream });
      expect(response.status).toBe(200);
      if (stream) return streamedBlocks(namedEvents(await response.text()));
      return ((await response.json()) as { content: Json[] }).content;
    };
    const calling = await turn();
    const calls = calling.filter(({ type }) => type === "tool_use");
    expect(calls.map(({ input }) => input)).toEqual([{ city: "Oslo" }, { city: "Rome" }]);
    const results = calls.map(({ id }, index) => ({
      type: "tool_result",
      tool_use_id: id,
      content: `${index} degrees`,
      is_error: false,
    }));
    messages.push(
      { role: "assistant", content: calling },
      { role: "user", content: [...results, { type: "text", text: "And?" }] },
    );
    const answer = await turn();
    expect(answer.map((block) => block["text"] ?? "").join("")).toBe(report.summary);
  });

  test("takes a session of an agent, each request on its own charge", async () => {
    const own = await fleet.operator().customer({ credit: "10" });
    const turns: Turn[] = [];
    const session = 6;
    for (let index = 0; index < session; index++) {
      stub.answerOnce(textStream.answer);
      const response = await send(fleet, own.keys[0]?.key ?? "", agentRequest(model, turns));
      expect([response.status, response.status === 200 ? "" : await response.text()]).toEqual([200, ""]);
      const answer = streamedBlocks(namedEvents(await response.text()));
      turns.push({ answer, next: [{ type: "text", text: `Go on ${index}` }] });
    }
    const rows = await expectExactLedger(fleet.operator(), own, { credit: "10", generations: session });
    expect(new Set(rows.map(({ endpoint }) => endpoint))).toEqual(new Set(["messages"]));
  });
});

function textIn(events: Json[]): string {
  return events.map(({ delta }) => (delta as Json | undefined)?.["text"] ?? "").join("");
}

function callsIn(events: Json[]): Json[] {
  return streamedBlocks(events).filter(({ type }) => type === "tool_use");
}
