/** The official package and its helpers, with only address and key changed: every provider format, both modes. */
import { beforeAll, describe, expect, test } from "bun:test";
import type OpenAI from "openai";
import { expectExactLedger } from "../support/gateway/exact-ledger.ts";
import type { Customer } from "../support/operator.ts";
import type { ProviderStub } from "../support/providers/provider-stub.ts";
import { officialModel } from "./official-types.ts";
import { conforming, OfficialModel } from "./schemas.ts";
import { modelOf, modes, playable, stage, type Mode, type Stage } from "./stage.ts";
import { thrownBy } from "./thrown-by.ts";
import { first, upstreams, type Upstream } from "./upstreams.ts";

const messages = [{ role: "user" as const, content: "Hello" }];
const include_usage = true;

for (const mode of modes) {
  describe.skipIf(!playable(mode))(mode, () => {
    for (const upstream of upstreams) describe(`a model behind ${upstream.name}`, () => formats(mode, upstream));
    describe("models", () => models(mode));
    describe("the sandbox", () => sandbox(mode));
  });
}

function formats(mode: Mode, { name: format, whole, streams }: Upstream): void {
  let client: OpenAI;
  let stub: ProviderStub;
  const model = modelOf(format);

  beforeAll(async () => {
    const on = await stage(mode);
    stub = on.stub(format);
    const customer = await on.fleet.operator().customer({ credit: "1" });
    await on.fleet.operator().call("PATCH", `/workspaces/${customer.workspace}`, { early_access: ["completions"] });
    client = on.client(customer.keys[0]?.key ?? "");
  }, 90_000);

  const text = first(whole, ({ expected }) => expected?.finishReason === "stop" && !!expected.content && !!expected.usage);
  const call = first(whole, ({ expected }) => expected?.finishReason === "tool_calls");
  const textStream = first(streams, (one) => one.finishReason === "stop" && one.text !== "" && one.usage !== null);
  const callStream = first(streams, (one) => one.finishReason === "tool_calls");
  const brokenStream = first(streams, (one) => one.failure !== null && one.finishReason === null && one.text !== "");

  test("the package gets a complete answer", async () => {
    stub.answerOnce(text.answer);
    const { data, response, request_id } = await client.chat.completions.create({ model, messages }).withResponse();
    expect(data.choices[0]?.message.content).toBe(text.expected?.content ?? null);
    expect(data).toMatchObject({ model, id: response.headers.get("x-generation-id") });
    expect(request_id).toMatch(/^req-/);
    expect(Math.abs(data.created - Date.now() / 1_000)).toBeLessThan(60);
  });

  test("the package reads a stream chunk by chunk, each with the same id and time", async () => {
    stub.answerOnce(textStream.answer);
    const stream = await client.chat.completions.create({ model, messages, stream: true });
    const chunks = [];
    for await (const chunk of stream) chunks.push(chunk);
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? "").join("")).toBe(textStream.text);
    expect(new Set(chunks.map(({ id, created }) => `${id} ${created}`)).size).toBe(1);
  });

  test("the package's helper assembles a stream, with usage", async () => {
    stub.answerOnce(textStream.answer);
    const stream = client.chat.completions.stream({ model, messages, stream_options: { include_usage } });
    expect(await stream.finalContent()).toBe(textStream.text);
    expect((await stream.finalChatCompletion()).choices[0]?.finish_reason).toBe("stop");
    expect((await stream.totalUsage()).prompt_tokens).toBe(textStream.usage?.promptTokens ?? 0);
  });

  test("the package's helper assembles tool calls of a stream", async () => {
    stub.answerOnce(callStream.answer);
    const tools = callStream.toolCalls.map(({ name }) => ({ type: "function" as const, function: { name } }));
    const message = await client.chat.completions.stream({ model, messages, tools }).finalMessage();
    const calls = message.tool_calls?.map((made) => made.type === "function" && { ...made.function, id: made.id });
    expect<unknown>(calls).toMatchObject(callStream.toolCalls);
  });

  test("the package's tool runner calls a tool, sends its result, and continues", async () => {
    const made = call.expected?.toolCalls ?? [];
    stub.answerOnce(call.answer, text.answer);
    const callsBefore = stub.calls.length;
    const runner = client.chat.completions.runTools({
      model,
      messages,
      tools: made.map(({ function: { name } }) => lookUp(name)),
    });
    expect(await runner.finalContent()).toBe(text.expected?.content ?? null);
    expect(stub.calls).toHaveLength(callsBefore + 2);
    expect(stub.calls.at(-1)?.rawBody).toContain("the depth is seven");
  });

  test("the package gets a completion, whole and streamed with its usage", async () => {
    stub.answerOnce(text.answer, textStream.answer);
    const whole = await client.completions.create({ model, prompt: "Hello", max_tokens: 300 });
    expect(whole.choices[0]).toMatchObject({ text: text.expected?.content ?? null, finish_reason: "stop" });
    expect(whole.usage?.prompt_tokens).toBe(text.expected?.usage?.promptTokens ?? 0);
    const stream = await client.completions.create({ model, prompt: ["Hello"], stream: true, stream_options: { include_usage } });
    const chunks = [];
    for await (const chunk of stream) chunks.push(chunk);
    expect(chunks.map((chunk) => chunk.choices[0]?.text ?? "").join("")).toBe(textStream.text);
    expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe("stop");
    expect(chunks.at(-1)?.usage?.prompt_tokens).toBe(textStream.usage?.promptTokens ?? 0);
  });

  test("the package throws when a stream breaks, after the text that had arrived", async () => {
    stub.answerOnce(brokenStream.answer);
    const stream = await client.chat.completions.create({ model, messages, stream: true });
    let arrived = "";
    const reading = (async () => {
      for await (const chunk of stream) arrived += chunk.choices[0]?.delta.content ?? "";
    })();
    expect(await thrownBy(reading)).toMatchObject({ code: "upstream_error", type: "api_error", param: null });
    expect(arrived).toBe(brokenStream.text);
  });
}

function lookUp(name: string) {
  return {
    type: "function" as const,
    function: {
      name,
      description: "Looks something up",
      parameters: { type: "object", properties: {} },
      parse: (text: string): unknown => JSON.parse(text),
      function: () => "the depth is seven",
    },
  };
}

function models(mode: Mode): void {
  let on: Stage;
  let client: OpenAI;

  beforeAll(async () => {
    on = await stage(mode);
    client = on.client((await on.fleet.operator().customer({ credit: "1" })).keys[0]?.key ?? "");
  }, 90_000);

  test("the package lists exactly the models that can be called", async () => {
    const ids: string[] = [];
    for await (const { id } of client.models.list()) ids.push(id);
    expect(ids.toSorted()).toEqual(["sandbox/echo", ...upstreams.map(({ name }) => modelOf(name))].toSorted());
  });

  test("the package retrieves a model by its id, which it escapes", async () => {
    const model = officialModel(conforming(OfficialModel, await client.models.retrieve("sandbox/echo")));
    expect(model).toMatchObject({ id: "sandbox/echo", owned_by: "sandbox" });
    expect(await thrownBy(client.models.retrieve("acme/none"))).toMatchObject({ code: "model_not_found", param: "model" });
  });
}

/** Computes the cost in nano-USD, at 1,000 for an input token and 2,000 for an output token. */
function sandbox(mode: Mode): void {
  let on: Stage;
  let customer: Customer;
  let client: OpenAI;

  beforeAll(async () => {
    on = await stage(mode);
    customer = await on.fleet.operator().customer({ credit: "1" });
    client = on.client(customer.keys[0]?.key ?? "");
  }, 90_000);

  test("the charge is the sandbox's count, and for an abandoned stream the delivered text", async () => {
    const model = "sandbox/echo";
    await client.chat.completions.create({ model, messages: [{ role: "user", content: "Hello from the package" }] });
    const endless = [{ role: "user" as const, content: "sandbox: tokens=4000 gap_ms=20" }];
    const stream = await client.chat.completions.create({ model, messages: endless, stream: true });
    for await (const chunk of stream) if (chunk.choices[0]?.delta.content) break;
    const [left, told] = await expectExactLedger(on.fleet.operator(), customer, { credit: "1", generations: 2 });
    expect(told).toMatchObject({ status: 200, prompt_tokens: 6, completion_tokens: 6, cost_usd: "0.000018000" });
    expect(left).toMatchObject({ code: "client_gone", streamed: true, usage_estimated: true });
    expect(left?.completion_tokens).toBeLessThan(4_000);
  });

  test("the package parses structured output that the sandbox makes for a schema", async () => {
    const schema = {
      type: "object",
      properties: { city: { type: "string" }, days: { type: "integer", minimum: 1 } },
      required: ["city", "days"],
      additionalProperties: false,
    };
    const response_format = { type: "json_schema" as const, json_schema: { name: "trip", schema, strict: true } };
    const parsed = await client.chat.completions.parse({ model: "sandbox/echo", messages, response_format });
    expect(parsed.choices[0]?.message.parsed).toEqual({ city: "", days: 1 });
    const endless = { ...schema, properties: { ...schema.properties, city: { type: "string", pattern: "^x" } } };
    const refused = client.chat.completions.create({
      model: "sandbox/echo",
      messages,
      response_format: { type: "json_schema", json_schema: { name: "trip", schema: endless } },
    });
    expect(await thrownBy(refused)).toMatchObject({
      code: "unsupported_parameter",
      param: "response_format.json_schema.schema.properties.city.pattern",
    });
  });
}
