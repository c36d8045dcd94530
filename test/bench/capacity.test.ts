import { describe, expect, test } from "bun:test";
import { callsOf } from "../../bench/capacity/calls.ts";
import { hotTexts } from "../../bench/capacity/hot-report.ts";
import { bestSize, capacityOf, coresOf, rateOf } from "../../bench/capacity/limits.ts";
import { modelOf, predict, type Model } from "../../bench/capacity/model.ts";
import { callCostOf, clusterFactorOf, predictRequest } from "../../bench/capacity/shared-out.ts";
import type { Measurement } from "../../bench/measure/measure.ts";
import { checkedHotShapes, type Shape } from "../../bench/parts/fleet.ts";
import type { Shards } from "../../bench/parts/shards.ts";
import { measured, wholeFacts } from "./whole-facts.ts";

const cores = 2;
const few: Shape = { gateways: 1, workers: 1, connections: 8 };
const many: Shape = { gateways: 1, workers: 1, connections: 128 };

/** Microseconds a request in a world that follows the model exactly. */
function worldAt({ connections, gateways, workers }: Shape): Record<string, number> {
  return {
    gateway: 100 + 1_600 / (connections / gateways),
    admission: 20 + 640 / (connections / gateways / workers),
    "redis-server": 40 + 320 / (connections / gateways / workers),
    metering: 30 + 160 / connections,
    postgres: 60 + 160 / connections,
  };
}

function measuredAt(shape: Shape) {
  const costs = worldAt(shape);
  const total = Object.values(costs).reduce((sum, cost) => sum + cost, 0);
  return { shape, measured: { costs, perSecond: (cores * 0.9 * 1_000_000) / total } };
}

const model = modelOf({ few: measuredAt(few), many: measuredAt(many), cores });
const sharedOut: Model = { ...model, clusterFactor: 1.1, logBytes: 2_100 };

describe("the capacity model", () => {
  test("the model finds the cost of a request and of its message, and the busy share of the cores", () => {
    expect(model.busy).toBeCloseTo(0.9, 6);
    expect(model.costs["gateway"]?.own).toBeCloseTo(100, 6);
    expect(model.costs["gateway"]?.shared).toBeCloseTo(1_600, 6);
  });

  test.each([
    { gateways: 1, workers: 1, connections: 32 },
    { gateways: 2, workers: 2, connections: 128 },
    { gateways: 3, workers: 1, connections: 60 },
  ])("the model predicts a fleet that was not used to fit it: %p", (shape) => {
    expect(predict({ shape, cores }, model).perSecond).toBeCloseTo(measuredAt(shape).measured.perSecond, 3);
  });

  test("the limit of a metering process is the sum of its own time and its transactions'", () => {
    const { limits } = capacityOf({ gateways: 8, workers: 1, metering: 1, masters: 1, cores: 64 }, model);
    const metering = limits.find(({ by }) => by === "metering");
    expect(metering?.perSecond).toBeCloseTo((0.9 * 1_000_000) / (90 + 320 / 1_024), 0);
  });

  test("each of several metering processes makes transactions of its part of the settlements", () => {
    const of = (metering: number) => predict({ shape: { ...many, metering }, cores }, model).costs["postgres"];
    expect(of(1)).toBeCloseTo(60 + 160 / 128, 6);
    expect(of(4)).toBeCloseTo(60 + 160 / 32, 6);
  });
});

describe("one workspace, whose requests are decided under blocks", () => {
  const facts = wholeFacts();
  const measuredHot = (shape: Shape): Measurement => {
    const cpuPer1000 = Object.fromEntries(Object.entries(worldAt(shape)).map(([kind, micros]) => [kind, micros / 10_000]));
    return { ...measured("Weir hot", "fleet"), cpuPer1000 };
  };
  const hot = [few, many, ...checkedHotShapes].map((shape) => ({ shape, measurement: measuredHot(shape) }));

  test("its costs make a model of their own, which says how many requests one Redis admits and how wrong it is", () => {
    const texts = hotTexts({ ...facts, fleet: { measurements: facts.fleet?.measurements ?? [], hot } }).join("\n");
    // A tenth of the world's cost: 4 µs and 32 µs a message, of 32 requests here.
    expect(texts).toMatch(/1 gateway, 1 worker, 32 connections +\| 5 +\| 5 +\| 0\.0 %/);
    expect(texts).toMatch(/one Redis admits [\d,]+ requests a second/);
  });

  test("a result without it says nothing about it", () => {
    expect(hotTexts({ ...facts, fleet: { measurements: facts.fleet?.measurements ?? [] } })).toEqual([]);
  });
});

describe("a fleet that is shared out over more cores", () => {
  test("a message makes one call for each master at most, and fewer when it has few requests", () => {
    expect(callsOf(128, 1)).toBe(1);
    expect(callsOf(1, 3)).toBeCloseTo(1, 9);
    expect(callsOf(2, 3)).toBeCloseTo(5 / 3, 9);
    expect(callsOf(128, 3)).toBeCloseTo(3, 9);
  });

  test("a Redis Cluster is predicted from one master: each call has its message's cost", () => {
    const shards = wholeFacts().shards ?? { measurements: [] };
    expect(clusterFactorOf(shards)).toBeCloseTo((33 + 88 / 128) / (30 + 80 / 128), 6);
    expect(predictRequest({ requests: 128, masters: 3 }, callCostOf(shards) ?? { own: 0, shared: 0 })).toBeCloseTo(
      33 + 264 / 128,
      3,
    );
    const unmeasured: Shards = { measurements: [] };
    expect([clusterFactorOf(unmeasured), callCostOf(unmeasured)]).toEqual([null, null]);
  });

  test("few cores end first; with more, what ended first gets more processes, until the log of the one PostgreSQL ends it", () => {
    expect(bestSize(2, sharedOut).limits[0]?.by).toBe("cores");
    const large = bestSize(1_000, sharedOut);
    expect(large.limits[0]).toEqual({ by: "PostgreSQL's log", perSecond: 200_000_000 / 2_100 });
    expect(large.size.masters).toBeGreaterThan(3);
    expect(large.size.metering).toBeGreaterThan(1);
    expect(Object.values(coresOf(large)).reduce((sum, busy) => sum + busy, 0)).toBeLessThan(1_000);
  });

  test("without a measured Redis Cluster, a fleet ends by its one Redis", () => {
    const large = bestSize(32, model);
    expect(large.limits[0]?.by).toBe("Redis");
    expect(rateOf(large)).toBeGreaterThan(rateOf(bestSize(2, model)) * 2);
  });

  test("metering has at most as many processes as the stream has partitions", () => {
    const costs = { ...model.costs, admission: { own: 20, shared: 0 } };
    const { size, limits } = bestSize(1_000, { ...sharedOut, costs, logBytes: 1 });
    expect([size.metering, limits[0]?.by]).toEqual([32, "metering"]);
  });
});
