import { afterAll, beforeAll, expect, test } from "bun:test";
import { Fleet } from "../../../support/servers/fleet.ts";
import { startProviderStub, type ProviderStub } from "../../../support/providers/provider-stub.ts";
import { chat, outcomeOf } from "../../../support/gateway/requests.ts";
import { temporaryFolder } from "../../../support/servers/services.ts";
import { chat as answer, error } from "../../../support/providers/stub-answers.ts";
import { stubKeyEnv, stubModel, stubProvider, writeCatalog } from "../../../support/providers/stub-catalog.ts";
import { until } from "../../../support/until.ts";

interface Measured {
  latency_ms: number | null;
  uptime_percent: number | null;
  runnable: boolean;
  routes?: Measured[];
}

const stack = new AsyncDisposableStack();
let fleet: Fleet;
let key: string;
let first: ProviderStub;

beforeAll(async () => {
  first = stack.use(await startProviderStub());
  const second = stack.use(await startProviderStub());
  const prices_per_1m_usd = { input: "1.00", output: "2.00" };
  const routes = ["first", "second"].map((provider) => ({ provider, upstream_model: "stub-model", prices_per_1m_usd }));
  const catalogDir = await writeCatalog(await temporaryFolder("catalog"), {
    providers: [stubProvider({ id: "first", base_url: first.url }), stubProvider({ id: "second", base_url: second.url })],
    models: { stub: [stubModel({ routes })] },
  });
  fleet = stack.use(await Fleet.start({ services: null, inTest: true, catalogDir, environment: { [stubKeyEnv]: "any" } }));
  const { keys } = await fleet.operator().customer({ credit: "10", requestsPerMinute: 10_000 });
  key = keys[0]?.key ?? "";
}, 60_000);
afterAll(() => stack.disposeAsync());

async function measures(model: string): Promise<Measured> {
  const response = await fetch(`${fleet.url()}/gpt/v1/models/${model}`, { headers: { authorization: `Bearer ${key}` } });
  return (await response.json()) as Measured;
}

async function ask(command: string, stream = false): Promise<number> {
  const body = { model: "sandbox/echo", stream, messages: [{ role: "user", content: `sandbox: ${command}` }] };
  return (await outcomeOf(chat({ url: fleet.url(), key, body }))).status;
}

test("GET /models has latency and uptime as measured on real traffic, and null without traffic", async () => {
  expect(await measures("sandbox/echo")).toMatchObject({ latency_ms: null, uptime_percent: null });
  expect(await ask("delay_ms=200", true)).toBe(200);
  const { latency_ms, uptime_percent } = await measures("sandbox/echo");
  expect(latency_ms).toBeWithin(195, 2_000);
  expect(uptime_percent).toBe(100);
});

test("a request that the provider rejects does not change its uptime", async () => {
  expect(await ask("status=400")).toBe(400);
  expect((await measures("sandbox/echo")).uptime_percent).toBe(100);
});

test("a provider's failure lowers its uptime, also within a stream", async () => {
  expect(await ask("status=429")).toBe(429);
  expect((await measures("sandbox/echo")).uptime_percent).toBe(50);
  expect(await ask("break_after=2", true)).toBe(200);
  expect((await measures("sandbox/echo")).uptime_percent).toBe(33.33);
});

test("a failure counts against its own route although another route answers, and the answer's time is not measured then", async () => {
  await until(async () => (await measures("stub/model")).runnable);
  expect((await measures("stub/model")).routes?.map((route) => route.uptime_percent)).toEqual([null, null]);
  first.answer(error(500, null));
  // The second route serves once its own launch check has passed.
  await until(async () => (await outcomeOf(chat({ url: fleet.url(), key }))).status === 200);
  expect((await measures("stub/model")).routes).toMatchObject([
    { latency_ms: null, uptime_percent: 0 },
    { latency_ms: null, uptime_percent: 100 },
  ]);
  first.answer(answer("Well again"));
  expect((await outcomeOf(chat({ url: fleet.url(), key }))).status).toBe(200);
  const { latency_ms, uptime_percent } = await measures("stub/model");
  expect(latency_ms).toBeNumber();
  expect(uptime_percent).toBeWithin(1, 51);
});
