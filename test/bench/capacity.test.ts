import { describe, expect, test } from "bun:test";
import { bestSize, capacityOf, rateOf } from "../../bench/capacity/limits.ts";
import { modelOf, predict } from "../../bench/capacity/model.ts";
import type { Shape } from "../../bench/parts/fleet.ts";

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

  test("the lowest limit is the cores when there are few, and Redis when there are many", () => {
    expect(bestSize(2, model).limits[0]?.by).toBe("cores");
    const large = bestSize(32, model);
    expect(large.limits[0]?.by).toBe("Redis");
    expect(rateOf(large)).toBeGreaterThan(rateOf(bestSize(2, model)) * 2);
  });

  test("the limit of a metering process is the sum of its own time and its transactions'", () => {
    const { limits } = capacityOf({ gateways: 8, workers: 1, metering: 1, cores: 64 }, model);
    const metering = limits.find(({ by }) => by === "metering");
    expect(metering?.perSecond).toBeCloseTo((0.9 * 1_000_000) / (90 + 320 / 1_024), 0);
  });
});
