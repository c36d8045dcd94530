/** A result with every part, made up. */
import type { PageTimes } from "../../bench/console/visit.ts";
import { Histogram } from "../../bench/load/histogram.ts";
import { agentApis } from "../../bench/load/agent-body.ts";
import { Tally, type Result } from "../../bench/load/tally.ts";
import type { Measurement } from "../../bench/measure/measure.ts";
import type { AgentRun } from "../../bench/parts/agent.ts";
import { checkedHotShapes, checkedShapes, fittedShapes, sharedOutShape } from "../../bench/parts/fleet.ts";
import { overspendCases } from "../../bench/overspend/run.ts";
import type { PeersRun } from "../../bench/parts/peers.ts";
import type { Facts } from "../../bench/report/facts.ts";
import { steps } from "../../bench/features/steps.ts";

const codes = ["direct", "bare proxy", "Portkey", "Weir hot", "Weir spread"];

function resultOf(perSecond: number, failed = 0): Result {
  const tally = new Tally();
  for (let n = 0; n < 1_000; n++) tally.latency.add(1 + n / 100);
  tally.sendLateness.add(1);
  for (let n = 0; n < failed; n++) tally.count({ status: 500, code: "internal_error" });
  const run = { mode: "closed", seconds: 1, underWayMax: 1, endedInAll: 1_000, failedInAll: failed, lastEndedAt: 0 };
  return { ...tally.result(run), perSecond };
}

export function measured(contender: string, load: string, failed = 0): Measurement {
  const weir = { gateway: 0.1, admission: 0.02, metering: 0.03, "nats-server": 0.02, "redis-server": 0.04, postgres: 0.06 };
  const own = contender.startsWith("Weir") ? weir : { [contender]: 0.03 };
  const cpuPer1000 = { "load generator": 0.02, provider: 0.02, ...own };
  return { contender, load, round: 1, result: resultOf(1_000, failed), cpuPer1000 };
}

export const peers = { versions: { Portkey: "1" }, leftOut: ["LiteLLM was left out"] };
/** A sweep with rates other than the default. */
export function slice(contender: string, load: string, sweep: number, perSecond = 1_000): Measurement {
  const one = measured(contender, load);
  return { ...one, sweep, result: { ...one.result, perSecond }, ...(contender.startsWith("Weir") && { lagSeconds: 0.1 }) };
}

const turn = { round: 1, idleBytes: 1e8, loadedBytes: 2e8, recoveredBytes: 1.5e8 };
const lateness = new Histogram();
lateness.add(1);

export function seen(page: string, status: number): PageTimes {
  const failed = status === 200 ? 0 : 300;
  const times = { firstMs: 3, latencyMs: lateness.summary(), bytes: 9_000 };
  return { visitor: "admin", page, isFile: false, ...times, failed, statuses: { [status]: 300 } };
}

/** Busbar lets more than 20 requests pass a budget; Weir does not. */
export function peersRun(): PeersRun {
  const names = ["direct", "nginx", "Busbar governed", "Weir hot"];
  const allLoads = ["1 connections", "32 connections", "128 connections", "32 streamed"];
  const refusing = { first: { 200: 20, 402: 180 }, again: { 402: 200 } };
  return {
    measurements: names.flatMap((name, n) => allLoads.map((load) => slice(name, load, 1, 8_000 / (n + 1)))),
    memory: ["direct", "nginx", "Busbar governed", "Weir"].map((name) => ({ name, idleBytes: 2 ** 20, loadedBytes: 2 ** 21 })),
    overspend: overspendCases.flatMap(({ name, limit }) => [
      { contender: "Busbar governed", case: name, first: { 200: 130, 429: 70 }, again: { 429: 200 } },
      { contender: "Weir", case: name, ...refusing, ...(limit === "rate" && { again: null }) },
    ]),
    versions: { nginx: "1" },
    leftOut: [],
  };
}

/** On each API Weir does half of what the bare proxy does, and adds half of what Portkey adds. */
export function agentRun(): AgentRun {
  const rates = { direct: 2_000, "bare proxy": 1_000, Portkey: 100, "Weir hot": 500 };
  const firstEvents = { direct: 1, "bare proxy": 2, Portkey: 9, "Weir hot": 5 };
  const of = (name: keyof typeof rates, load: string): Measurement => {
    const one = slice(name, load, 1, rates[name]);
    const firstEvent = new Histogram();
    firstEvent.add(firstEvents[name]);
    return { ...one, result: { ...one.result, firstEventMs: firstEvent.summary() } };
  };
  const names = ["direct", "bare proxy", "Portkey", "Weir hot"] as const;
  const measurements = agentApis.flatMap((api) =>
    names.flatMap((name) => ["32 connections", "1 connections"].map((load) => ({ api, measurement: of(name, load) }))),
  );
  return { measurements, ...peers };
}

export function wholeFacts(): Facts {
  const loads = ["1 connections", "8 connections", "32 connections", "128 connections"];
  const shapes = [...fittedShapes, ...checkedShapes, sharedOutShape];
  const streamed = {
    ...turn,
    lateness: lateness.summary(),
    latenessCurve: lateness.curve(),
    firstEvent: lateness.summary(),
    gap: null,
  };
  return {
    at: "2026-11-20T12:00:00.000Z",
    command: "npm run bench",
    commit: "abcdef",
    machine: { processor: "a processor", cores: 2, memoryGiB: 16, kernel: "6", loadBefore: [0, 0, 0] },
    versions: { Bun: "1" },
    leftOut: peers.leftOut,
    invalid: [],
    hotPath: {
      measurements: codes.flatMap((name) => [...loads.map((load) => slice(name, load, 1)), measured(name, "200/s")]),
      memory: ["direct", "bare proxy", "Portkey", "Weir"].map((name) => ({ name, ...turn })),
      idle: [
        { name: "bare proxy", cores: { "bare proxy": 0 } },
        { name: "Weir", cores: { gateway: 0.01, postgres: 0.005, prober: 0 } },
      ],
      ...peers,
    },
    peers: peersRun(),
    agent: agentRun(),
    bodies: {
      cases: [{ name: "1 KiB", bytes: 1_024, streamed: false, connections: 4, rate: 3 }],
      measurements: codes.flatMap((name) =>
        (["closed", "open"] as const).map((loop) => ({ case: "1 KiB", loop, measurement: measured(name, loop) })),
      ),
      ...peers,
    },
    features: {
      steps,
      measurements: steps.flatMap(({ name }) => ["128 connections", "1 connections"].map((load) => measured(name, load))),
    },
    shards: {
      measurements: [4, 16, 128].flatMap((requests) => [
        { isCluster: false, masters: 1, requests, calls: 1, cpuMicros: 30 + 80 / requests, perSecond: 30_000 },
        { isCluster: true, masters: 1, requests, calls: 1, cpuMicros: 33 + 88 / requests, perSecond: 29_000 },
        { isCluster: true, masters: 3, requests, calls: 3, cpuMicros: 33 + 264 / requests, perSecond: 31_000 },
      ]),
    },
    metering: {
      measurements: [1, 2].map((processes) => ({
        processes,
        perSecond: 10_000 * processes,
        cpuMicros: {
          "metering 1": 18 / processes,
          ...(processes === 2 && { "metering 2": 9 }),
          postgres: 20,
          "redis-server": 8,
          "nats-server": 1,
        },
        stored: { databaseBytes: 500, logBytes: 600 },
      })),
    },
    fleet: {
      measurements: shapes.map((shape) => ({ shape, measurement: measured("Weir spread", "fleet") })),
      hot: [...fittedShapes, ...checkedHotShapes].map((shape) => ({ shape, measurement: measured("Weir hot", "fleet") })),
    },
    streams: {
      turns: ["bare proxy", "Weir spread"].map((contender) => ({ contender, ...streamed, cores: {}, failed: 0, codes: {} })),
      addedLatenessMs: [1],
      memoryRatio: [1],
    },
    soak: {
      ceilingPerSecond: 1_000,
      perSecond: 800,
      result: resultOf(800),
      lagSeconds: 0.1,
      unsettled: [
        { second: 0, generations: 0 },
        { second: 1, generations: 20 },
      ],
      memory: [{ process: "gateway", idleBytes: 1, loadedBytes: 2, recoveredBytes: 1 }],
      stored: { databaseBytes: 1_000, logBytes: 2_000 },
    },
    catalog: {
      cases: [
        { name: "export", bytes: 1_000_000, latencyMs: lateness.summary(), failed: 0 },
        { name: "304", bytes: 0, latencyMs: lateness.summary(), failed: 0 },
      ],
    },
    console: {
      pages: [seen("/keys", 200), { ...seen("/requests, CSV", 200), isFile: true }],
      missing: [],
      requestsPerSecond: 200,
      direct: resultOf(200),
      traffic: [
        {
          alone: resultOf(200),
          beside: resultOf(200),
          clicks: { perSecond: 90, latencyMs: lateness.summary(), statuses: { 200: 900 }, refused: [] },
        },
      ],
    },
    micro: [{ question: "body-check", what: "1 KiB", unit: "request", median: 3, least: 2 }],
  };
}
