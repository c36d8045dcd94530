/** What a collector gets over OTLP, and what happens while it is away. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readConfig } from "../../../src/config.ts";
import { type Logger, silentLog } from "../../../src/kernel/log.ts";
import { countRequest } from "../../../src/kernel/metrics.ts";
import { systemClock } from "../../../src/kernel/clock.ts";
import { startTrace, traces, type TracedGeneration } from "../../../src/kernel/traces.ts";
import { telemetryFlushMs } from "../../../src/process/limits.ts";
import { startTelemetry } from "../../../src/process/telemetry/start-telemetry.ts";
import { traceIdsOf } from "../../../src/process/telemetry/span-sink.ts";
import { attributesOf, OtlpCollector, type SentSpan } from "../../support/telemetry/otlp-collector.ts";

let collector: OtlpCollector;
beforeEach(async () => void (collector = await OtlpCollector.start()));
afterEach(() => collector[Symbol.dispose]());

function start(environment: Record<string, string>, log: Logger = silentLog): Promise<AsyncDisposable> {
  const { telemetry } = readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint, ...environment });
  return startTelemetry({ config: telemetry, role: "gateway", clock: systemClock, log });
}

const generation = "gen-22222222222222222222222222";
const at = Date.UTC(2026, 10, 26, 12);
const { traceId, rootSpanId } = traceIdsOf(generation);
const caller = { traceId: "4bf92f3577b34da6a3ce929d0e0e4736", spanId: "00f067aa0ba902b7" };

const ended: TracedGeneration = {
  generation,
  workspace: "ws-a",
  key: "key-a",
  traceparent: `00-${caller.traceId}-${caller.spanId}-01`,
  path: "/gpt/v1/chat/completions",
  operation: "chat",
  model: "acme/one",
  streamed: true,
  from: at,
  to: at + 900,
  admission: { from: at + 1, to: at + 4 },
  calls: [
    {
      provider: "acme",
      model: "one",
      baseUrl: "https://api.acme.example/v1",
      code: "upstream_error",
      from: at + 5,
      to: at + 100,
    },
    { provider: "google", model: "one-flash", baseUrl: "http://127.0.0.1:9/v1", code: null, from: at + 100, to: at + 900 },
  ],
  firstTokenMs: 250,
  status: 200,
  code: null,
  tokens: { prompt: 12, cached: 2, cacheWrite: 0, completion: 7 },
  charged: 1_234_000n,
};

const msOf = ({ startTimeUnixNano, endTimeUnixNano }: SentSpan) =>
  [startTimeUnixNano, endTimeUnixNano].map((nanos) => Number(BigInt(nanos) / 1_000_000n) - at);

describe("telemetry over OTLP", () => {
  test("a request is one trace: its arrival, admission, each call of a provider, the worker's decision and the booking", async () => {
    const telemetry = await start({ OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20collector-key" });
    traces()?.work({ generation, work: "admission", outcome: "admitted", from: at + 2, to: at + 3 });
    traces()?.generation(ended);
    traces()?.work({ generation, work: "settlement", outcome: "settled", from: at + 950, to: at + 990 });
    await telemetry[Symbol.asyncDispose]();
    expect(collector.authorization).toBe("Bearer collector-key");
    const [decide, root, admit, first, second, settle] = collector.spans;
    expect(collector.spans.map(({ name }) => name)).toEqual([
      "decide",
      "POST /gpt/v1/chat/completions",
      "admit",
      "chat one",
      "chat one-flash",
      "settle",
    ]);
    expect(new Set(collector.spans.map((span) => span.traceId))).toEqual(new Set([traceId]));
    expect(root).toMatchObject({ spanId: rootSpanId, links: [caller], kind: 2 });
    expect([decide, admit, first, second, settle].map((span) => span?.parentSpanId)).toEqual(Array(5).fill(rootSpanId));
    expect(collector.spans.map(msOf)).toEqual([
      [2, 3],
      [0, 900],
      [1, 4],
      [5, 100],
      [100, 900],
      [950, 990],
    ]);
    expect([root, first, second].map((span) => span?.status.code)).toEqual([0, 2, 0]);
  });

  test("a call has the attributes of the conventions for generative AI, and the request what it was charged", async () => {
    const telemetry = await start({});
    traces()?.generation(ended);
    await telemetry[Symbol.asyncDispose]();
    const named = new Map(collector.spans.map((span) => [span.name, attributesOf(span)]));
    expect(named.get("chat one-flash")).toEqual({
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "gcp.gemini",
      "gen_ai.request.model": "one-flash",
      "server.address": "127.0.0.1",
      "server.port": 9,
      "gen_ai.usage.input_tokens": 12,
      "gen_ai.usage.output_tokens": 7,
      "gen_ai.usage.cache_read.input_tokens": 2,
      "gen_ai.usage.cache_creation.input_tokens": 0,
    });
    expect(named.get("chat one")).toMatchObject({ "error.type": "upstream_error", "server.port": 443 });
    expect(named.get("POST /gpt/v1/chat/completions")).toMatchObject({
      "http.response.status_code": 200,
      "weir.generation": generation,
      "weir.workspace": "ws-a",
      "weir.charged_usd": 0.001234,
    });
  });

  test("the metrics are those of /metrics under their names, and those of the conventions", async () => {
    const telemetry = await start({});
    countRequest(299, "sent");
    traces()?.generation(ended);
    await telemetry[Symbol.asyncDispose]();
    const sent = (name: string) => collector.metrics.find((metric) => metric.name === name);
    const requests = sent("weir_requests_total")?.sum?.dataPoints ?? [];
    expect(requests.find((point) => attributesOf(point)["code"] === "sent")).toMatchObject({ asDouble: 1 });
    const [delay] = sent("weir_settlement_delay_seconds")?.histogram?.dataPoints ?? [];
    expect(delay?.bucketCounts.length).toBe((delay?.explicitBounds.length ?? 0) + 1);
    const tokens = sent("gen_ai.client.token.usage")?.histogram?.dataPoints ?? [];
    expect(tokens.map((point) => [attributesOf(point)["gen_ai.token.type"], point.sum]).toSorted()).toEqual([
      ["input", 12],
      ["output", 7],
    ]);
    expect(sent("gen_ai.client.operation.duration")).toMatchObject({ unit: "s" });
    expect(sent("gen_ai.server.time_to_first_token")?.histogram?.dataPoints[0]).toMatchObject({ sum: 0.25, count: 1 });
  });

  test("a share of the generations is traced, the same ones in each process, and all are measured", async () => {
    const telemetry = await start({ OTEL_TRACES_SAMPLER_ARG: "0.25" });
    const ids = Array.from({ length: 400 }, (_, number) => `gen-${number}`);
    for (const id of ids) traces()?.generation({ ...ended, generation: id });
    for (const id of ids) traces()?.work({ generation: id, work: "settlement", outcome: "settled", from: at, to: at });
    await telemetry[Symbol.asyncDispose]();
    const named = (name: string) => collector.spans.filter((span) => span.name === name).map((span) => span.traceId);
    expect(named("settle")).toEqual(named(`POST ${ended.path}`));
    expect(named("settle").length).toBeGreaterThan(60);
    expect(named("settle").length).toBeLessThan(140);
    const durations =
      collector.metrics.find(({ name }) => name === "gen_ai.client.operation.duration")?.histogram?.dataPoints ?? [];
    expect(durations.reduce((sum, { count }) => sum + Number(count), 0)).toBe(800);
  });

  test("a collector that is away holds nothing up, and the log says so once", async () => {
    const said: string[] = [];
    const log = { ...silentLog, info: () => {}, warn: ({ event }: { event: string }) => said.push(event) } as unknown as Logger;
    const telemetry = await start({ OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1" }, log);
    for (let count = 0; count < 5_000; count++) traces()?.generation({ ...ended, generation: `gen-${count}` });
    const startedAt = performance.now();
    await telemetry[Symbol.asyncDispose]();
    // Without the wait for a collector that answers late, and with time for a busy machine.
    expect(performance.now() - startedAt).toBeLessThan(telemetryFlushMs + 5_000);
    expect(traces()).toBeNull();
    expect(said.filter((event) => event === "telemetry.failed").length).toBeLessThanOrEqual(1);
  });

  test("nothing is told where it is off", async () => {
    const telemetry = await startTelemetry({
      config: readConfig({}).telemetry,
      role: "gateway",
      clock: systemClock,
      log: silentLog,
    });
    expect(traces()).toBeNull();
    expect(startTrace(new Request("http://weir/gpt/v1/chat/completions"), systemClock)).toBeNull();
    await telemetry[Symbol.asyncDispose]();
  });
});
