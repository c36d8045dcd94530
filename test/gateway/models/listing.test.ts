import { expect, test } from "bun:test";
import { Value } from "@sinclair/typebox/value";
import { availabilityOf, type Availability } from "../../../src/gateway/models/availability.ts";
import { ModelRecord, modelRecord } from "../../../src/gateway/models/listing.ts";
import type { Model } from "../../../src/gateway/models/model.ts";
import { aModel } from "../../support/providers/models.ts";

function judged(model: Model): Availability {
  const checks = new Map(model.routes.map((route) => [route.entry, { passed: true }]));
  return availabilityOf(model, { providerKey: () => "key", checks, zeroDataRetention: false, earlyAccess: ["embeddings"] });
}

test("an entry has OpenAI's four fields and the service's own", () => {
  const model = aModel({ released: "2026-01-02", prices_per_1m_usd: { input: "0.25", output: "2", cache_read: "0.025" } });
  const record = modelRecord(model, judged(model), () => null);
  expect(record).toEqual({
    id: "stub/model",
    object: "model",
    created: Date.UTC(2026, 0, 2) / 1_000,
    owned_by: "stub",
    name: "Stub model",
    provider: "stub",
    context_length: 100_000,
    max_output_tokens: 1_000,
    prices_per_1m_usd: { input: "0.25", output: "2.00", cache_read: "0.025", cache_write: "0.25" },
    availability: "available",
    runnable: true,
    unavailable_reason: null,
    latency_ms: null,
    uptime_percent: null,
  });
  expect(Value.Check(ModelRecord, record)).toBe(true);
});

test("measurements come from real traffic, and from the first of several routes", () => {
  const routes = ["a", "b"].map((provider) => ({
    provider,
    upstream_model: "m",
    prices_per_1m_usd: { input: "1", output: "2" },
  }));
  const model = aModel({ routes });
  const measured: Record<string, number> = { a: 120, b: 80 };
  const record = modelRecord(model, judged(model), (route) => ({
    latencyMs: measured[route.provider.id] ?? null,
    uptimePercent: 99.5,
  }));
  expect(record).toMatchObject({ provider: "a", latency_ms: 120, uptime_percent: 99.5 });
  expect(record.routes?.map((route) => [route.provider, route.latency_ms])).toEqual([
    ["a", 120],
    ["b", 80],
  ]);
  expect(Value.Check(ModelRecord, record)).toBe(true);
});

test("tiers are listed with the model's prices, and with each of several routes", () => {
  const tiers = [{ above_input_tokens: 272_000, input: "5", output: "22.5", cache_read: "0.5" }];
  const shown = [{ above_input_tokens: 272_000, input: "5.00", output: "22.50", cache_read: "0.50", cache_write: "5.00" }];
  const single = aModel({ tiers });
  const record = modelRecord(single, judged(single), () => null);
  expect(record.tiers).toEqual(shown);
  const prices_per_1m_usd = { input: "1", output: "2" };
  const routes = [
    { provider: "a", upstream_model: "m", prices_per_1m_usd },
    { provider: "b", upstream_model: "m", prices_per_1m_usd, tiers },
  ];
  const routed = modelRecord(aModel({ routes }), judged(aModel({ routes })), () => null);
  expect(routed.routes?.map((route) => route.tiers)).toEqual([undefined, shown]);
  expect(routed).not.toHaveProperty("tiers");
  for (const one of [record, routed]) expect(Value.Check(ModelRecord, one)).toBe(true);
});
