/** Routing as a client sees it, against providers over real HTTP. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { Fleet } from "../../support/servers/fleet.ts";
import { startProviderStub, type ProviderStub } from "../../support/providers/provider-stub.ts";
import { chat, completion, outcomeOf, tally, type Outcome } from "../../support/gateway/requests.ts";
import { chat as answer, error, type StubAnswer } from "../../support/providers/stub-answers.ts";
import { stubKeyEnv, stubModel, stubProvider, writeCatalog } from "../../support/providers/stub-catalog.ts";
import { traceIdsOf } from "../../../src/process/telemetry/span-sink.ts";
import { attributesOf, OtlpCollector } from "../../support/telemetry/otlp-collector.ts";
import { temporaryFolder } from "../../support/servers/services.ts";
import { until } from "../../support/until.ts";

interface Answered {
  status: number;
  route: string | null;
  generation: string;
  text: string;
  body: { model?: string; error?: { code: string; param: string | null; message: string } };
}

const names = ["alpha", "beta", "gamma"] as const;
const stack = new AsyncDisposableStack();
const providers = new Map<string, ProviderStub>();
let collector: OtlpCollector;
let fleet: Fleet;
let workspace: string;
let key: string;

/** 10 prompt and 1 completion tokens. */
const good: StubAnswer = answer("Hello");
const at = (name: string): ProviderStub => {
  const stub = providers.get(name);
  if (!stub) throw new Error(`The test has no provider ${name}`);
  return stub;
};

async function ask(fields: Record<string, unknown> = {}): Promise<Answered> {
  const response = await chat({ url: fleet.url(), key, body: { model: "stub/one", max_tokens: 10, ...fields } });
  const text = await response.text();
  const body = text.startsWith("{") ? (JSON.parse(text) as Answered["body"]) : {};
  const { status, headers } = response;
  return { status, route: headers.get("x-route"), generation: headers.get("x-generation-id") ?? "", text, body };
}

async function logged(generation: string): Promise<Record<string, unknown>> {
  const rows = () => fleet.operator().log(`workspace=${workspace}&limit=50`);
  await until(async () => (await rows()).some((row) => row.generation_id === generation));
  return { ...(await rows()).find((row) => row.generation_id === generation) };
}

async function set(settings: Record<string, unknown>): Promise<void> {
  await fleet.operator().call("PATCH", `/workspaces/${workspace}`, settings);
}

/** Applies at once in one process. */
async function switchTo(earlyAccess: string[]): Promise<void> {
  await set({ early_access: earlyAccess });
}

beforeAll(async () => {
  for (const name of names) providers.set(name, stack.use(await startProviderStub()));
  const routeAt = (provider: string, input: string, output: string) => ({
    provider,
    upstream_model: `model-at-${provider}`,
    prices_per_1m_usd: { input, output },
    hidden_input_tokens: 0,
  });
  const catalogDir = await writeCatalog(await temporaryFolder("catalog"), {
    providers: names.map((id) => stubProvider({ id, base_url: at(id).url })),
    models: {
      stub: [
        stubModel({ id: "stub/one", routes: [routeAt("alpha", "1.00", "2.00"), routeAt("beta", "3.00", "1.00")] }),
        stubModel({ id: "stub/two", routes: [routeAt("gamma", "5.00", "7.00"), routeAt("alpha", "1.00", "1.00")] }),
        stubModel({ id: "stub/small", routes: [routeAt("beta", "1.00", "1.00")], max_output_tokens: 100 }),
        stubModel({ id: "stub/off", routes: [routeAt("gamma", "1.00", "1.00")], listed_as: "coming_soon" }),
      ],
    },
  });
  collector = stack.use(await OtlpCollector.start());
  const environment = { [stubKeyEnv]: "sk-stub", OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint };
  fleet = stack.use(await Fleet.start({ services: null, inTest: true, catalogDir, environment }));
  const customer = await fleet.operator().customer({ credit: "1" });
  workspace = customer.workspace;
  key = customer.keys[0]?.key ?? "";
  for (const provider of names) at(provider).answer(good);
  await switchTo(["routing"]);
  for (const [model, provider] of [
    ["stub/one", "alpha"],
    ["stub/one", "beta"],
    ["stub/two", "gamma"],
    ["stub/two", "alpha"],
  ])
    await until(async () => (await ask({ model, provider: { only: [provider] } })).status === 200);
}, 60_000);
afterAll(() => stack.disposeAsync(), 30_000);

beforeEach(async () => {
  for (const provider of names) at(provider).answer(good);
  await set({ early_access: ["routing"], fallbacks: true });
});

describe("with routing on", () => {
  test.each([false, true])("every answer names the route that served, streamed: %p", async (stream) => {
    expect(await ask({ stream })).toMatchObject({ status: 200, route: "alpha/stub/one" });
    expect(await ask({ stream, provider: { order: ["beta"] } })).toMatchObject({ status: 200, route: "beta/stub/one" });
    expect(await ask({ stream, provider: { ignore: ["alpha"] } })).toMatchObject({ route: "beta/stub/one" });
    expect(await ask({ stream, provider: { sort: "price" }, max_tokens: 1_000 })).toMatchObject({ route: "beta/stub/one" });
  });

  test.each([false, true])(
    "another model serves after a failure, and answer, charge and log are its own; streamed: %p",
    async (stream) => {
      at("alpha").answer(error(500));
      const fields = { models: ["stub/two"], provider: { ignore: ["beta"] }, stream };
      const { text, route, generation, status } = await ask(fields);
      expect([status, route]).toEqual([200, "gamma/stub/two"]);
      expect([...new Set(text.match(/"model":"[^"]*"/g))]).toEqual(['"model":"stub/two"']);
      expect(at("gamma").calls.at(-1)?.body).toMatchObject({ model: "model-at-gamma" });
      expect(await logged(generation)).toMatchObject({
        model: "stub/two",
        requested_model: "stub/one",
        provider: "gamma",
        cost_usd: "0.000057000",
        attempts: [
          { provider: "alpha", model: "stub/one", own_key: false, code: "upstream_error", ms: expect.any(Number) },
          { provider: "gamma", model: "stub/two", own_key: false, code: null, ms: expect.any(Number) },
        ],
      });
    },
  );

  test("the trace of a request has every call of a provider, beside its admission and its booking", async () => {
    at("alpha").answer(error(500));
    // A change ends what gateways may decide by themselves: a worker decides about the next request.
    await switchTo([]);
    await switchTo(["routing"]);
    const { generation } = await ask({ models: ["stub/two"], provider: { ignore: ["beta"] } });
    const { traceId } = traceIdsOf(generation);
    const spans = () => collector.spans.filter((span) => span.traceId === traceId);
    const expected = ["POST /gpt/v1/chat/completions", "admit", "chat model-at-alpha", "chat model-at-gamma", "decide", "settle"];
    await until(() => spans().length >= expected.length);
    const named = spans().toSorted((one, other) => Number(BigInt(one.startTimeUnixNano) - BigInt(other.startTimeUnixNano)));
    expect(named.map(({ name }) => name).toSorted()).toEqual(expected);
    const calls = named.filter(({ kind }) => kind === 3).map((span) => [span.name, attributesOf(span)["error.type"]]);
    expect(calls).toEqual([
      ["chat model-at-alpha", "upstream_error"],
      ["chat model-at-gamma", undefined],
    ]);
  });

  test("an answer by the requested model logs its call, and no other requested model", async () => {
    const row = await logged((await ask({ models: ["stub/two"] })).generation);
    expect(row).toMatchObject({ model: "stub/one", attempts: [{ provider: "alpha", model: "stub/one", code: null }] });
    expect(row).not.toHaveProperty("requested_model");
  });

  test("a rejected request is not sent again, and an error names no route", async () => {
    at("alpha").answer(error(400));
    const { status, route, generation } = await ask({ models: ["stub/two"] });
    expect([status, route]).toEqual([400, null]);
    expect(await logged(generation)).toMatchObject({
      model: "stub/one",
      code: "upstream_rejected",
      attempts: [{ provider: "alpha", code: "upstream_rejected" }],
    });
  });

  test("with fallbacks off a later model serves only where the first cannot be called at all", async () => {
    await set({ fallbacks: false });
    at("alpha").answer(error(500));
    expect(await ask({ models: ["stub/two"] })).toMatchObject({ status: 502 });
    expect(await ask({ model: "stub/off", models: ["stub/two"] })).toMatchObject({ status: 200, route: "gamma/stub/two" });
  });

  test("models that cannot be called are 503 with the first one's reason", async () => {
    const refused = await ask({ model: "stub/off", provider: { order: ["gamma"] } });
    expect(refused).toMatchObject({ status: 503, body: { error: { code: "model_unavailable", param: "model" } } });
    expect(refused.body.error?.message).toContain("stub/off");
  });

  test("the first unknown model is 404, by its place in the request", async () => {
    const { status, body } = await ask({ models: ["stub/two", "stub/none", "stub/neither"] });
    expect(status).toBe(404);
    expect(body.error).toMatchObject({ code: "model_not_found", param: "models[1]" });
    expect(body.error?.message).toEndWith("There is no model with the id stub/none");
  });

  test("the reservation is that of the dearest candidate, which the 402 names", async () => {
    const reserved = async (fields: Record<string, unknown>) => (await logged((await ask(fields)).generation))["reserved_usd"];
    const text = "Hello".length + 16;
    const usd = (pico: number): string => (pico / 1e6).toFixed(9);
    expect(await reserved({ provider: { only: ["alpha"] } })).toBe(usd(text * 1 + 10 * 2));
    expect(await reserved({})).toBe(usd(text * 3 + 10 * 1));
    expect(await reserved({ models: ["stub/two"] })).toBe(usd(text * 5 + 10 * 7));
    const poor = await fleet.operator().customer({ credit: "0.0001" });
    await fleet.operator().call("PATCH", `/workspaces/${poor.workspace}`, { early_access: ["routing"] });
    const body = { model: "stub/one", models: ["stub/two"], max_tokens: 10 };
    const refused = await chat({ url: fleet.url(), key: poor.keys[0]?.key ?? "", body });
    expect(refused.status).toBe(402);
    expect(await refused.text()).toContain("may cost up to 0.000175000 USD with gamma/stub/two, its dearest candidate, and");
    const cheaper = { url: fleet.url(), key: poor.keys[0]?.key ?? "", body: { ...body, models: undefined } };
    expect((await outcomeOf(chat(cheaper))).status).toBe(200);
  });
});

describe("other endpoints", () => {
  test.each([false, true])("a completion is routed as a chat is, streamed: %p", async (stream) => {
    await switchTo(["routing", "completions"]);
    at("alpha").answer(error(500));
    const rules = { models: ["stub/two"], provider: { ignore: ["beta"] } };
    const response = await completion({ url: fleet.url(), key, body: { model: "stub/one", max_tokens: 10, stream, ...rules } });
    expect([response.status, response.headers.get("x-route")]).toEqual([200, "gamma/stub/two"]);
    expect([...new Set((await response.text()).match(/"model":"[^"]*"/g))]).toEqual(['"model":"stub/two"']);
    expect(await logged(response.headers.get("x-generation-id") ?? "")).toMatchObject({
      endpoint: "completions",
      model: "stub/two",
      requested_model: "stub/one",
      attempts: [{ code: "upstream_error" }, { code: null }],
    });
  });

  test("a further model must support a completion's fields too", async () => {
    await switchTo(["routing", "completions"]);
    const body = { model: "stub/one", models: ["stub/small"], max_tokens: 1_000 };
    const response = await completion({ url: fleet.url(), key, body });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain("(model stub/small)");
  });

  test("embeddings have one provider, and refuse routing fields", async () => {
    await switchTo(["routing", "embeddings"]);
    const response = await fetch(`${fleet.url()}/gpt/v1/embeddings`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "stub/embed", input: "Hello", provider: { sort: "price" } }),
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { code: "unsupported_parameter", param: "provider.sort", message: expect.stringContaining("one provider") },
    });
  });
});

describe("with routing off", () => {
  test("routing fields are refused, and answers and log are as before", async () => {
    await switchTo([]);
    expect(await ask({ models: ["stub/two"] })).toMatchObject({ status: 400, body: { error: { param: "models" } } });
    expect(await ask({ provider: { only: ["beta"] } })).toMatchObject({
      status: 400,
      body: { error: { param: "provider.only" } },
    });
    at("alpha").answerOnce(error(500));
    const { route, generation, body } = await ask();
    expect([route, body.model]).toEqual([null, "stub/one"]);
    const row = await logged(generation);
    expect(row).not.toHaveProperty("attempts");
    expect(row).not.toHaveProperty("requested_model");
  });
});

test("two switches off and on while requests fly: each request is routed or refused, and every charge is booked", async () => {
  at("alpha").answer(error(500));
  let flying = true;
  const body = { model: "stub/one", models: ["stub/two"], provider: { ignore: ["beta"] }, max_tokens: 10 };
  const outcomes = [chat, completion].map((send) => ({ send, seen: [] as Outcome[] }));
  const loops = [...outcomes, ...outcomes].map(async ({ send, seen }) => {
    while (flying) seen.push(await outcomeOf(send({ url: fleet.url(), key, body })));
  });
  for (const earlyAccess of [[], ["routing"], ["completions"], ["routing", "completions"], [], ["completions"], ["routing"]]) {
    const least = outcomes.map(({ seen }) => seen.length + 10);
    await switchTo(earlyAccess);
    await until(() => Promise.resolve(outcomes.every(({ seen }, index) => seen.length >= (least[index] ?? 0))));
  }
  flying = false;
  await Promise.all(loops);
  const kinds = outcomes.map(({ seen }) => Object.keys(tally(seen)).toSorted().join());
  expect(kinds).toEqual(["200,400 unsupported_parameter", "200,400 unsupported_parameter,403 gateway_disabled"]);
  for (const { status, headers } of outcomes.flatMap(({ seen }) => seen))
    if (status === 200) expect(headers.get("x-route")).toBe("gamma/stub/two");
  await until(async () => (await fleet.operator().show(workspace)).reserved_usd === "0.000000000");
  expect(await fleet.operator().verify()).toMatchObject({ ok: true });
}, 30_000);
