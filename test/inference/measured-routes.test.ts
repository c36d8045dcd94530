import { afterAll, beforeAll, expect, test } from "bun:test";
import { Fleet } from "../support/fleet.ts";
import { chat, outcomeOf } from "../support/requests.ts";

const stack = new AsyncDisposableStack();
let fleet: Fleet;
let key: string;

beforeAll(async () => {
  fleet = stack.use(await Fleet.start({ services: null }));
  const { keys } = await fleet.operator().customer({ credit: "10", requestsPerMinute: 10_000 });
  key = keys[0]?.key ?? "";
}, 60_000);
afterAll(() => stack.disposeAsync());

async function measures(): Promise<{ latency_ms: number | null; uptime_percent: number | null }> {
  const response = await fetch(`${fleet.url()}/gpt/v1/models/sandbox/echo`, { headers: { authorization: `Bearer ${key}` } });
  const { latency_ms, uptime_percent } = (await response.json()) as Awaited<ReturnType<typeof measures>>;
  return { latency_ms, uptime_percent };
}

async function ask(command: string, stream = false): Promise<number> {
  const body = { model: "sandbox/echo", stream, messages: [{ role: "user", content: `sandbox: ${command}` }] };
  return (await outcomeOf(chat({ url: fleet.url(), key, body }))).status;
}

test("GET /models tells latency and uptime as real traffic measured them, and null where there was none", async () => {
  expect(await measures()).toEqual({ latency_ms: null, uptime_percent: null });
  expect(await ask("delay_ms=200", true)).toBe(200);
  const { latency_ms, uptime_percent } = await measures();
  expect(latency_ms).toBeWithin(195, 2_000);
  expect(uptime_percent).toBe(100);
});

test("a request that the provider rejects says nothing of its uptime", async () => {
  expect(await ask("status=400")).toBe(400);
  expect((await measures()).uptime_percent).toBe(100);
});

test("a provider that fails, whole or within a stream, was not up", async () => {
  expect(await ask("status=429")).toBe(429);
  expect((await measures()).uptime_percent).toBe(50);
  expect(await ask("break_after=2", true)).toBe(200);
  expect((await measures()).uptime_percent).toBe(33.33);
});
