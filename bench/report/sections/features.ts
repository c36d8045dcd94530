/** The section about the cost of each feature. */
import type { Measurement } from "../../measure/measure.ts";
import { manyConnections, type Features } from "../../parts/features.ts";
import { barsSvg, type Bar } from "../plots/bars.ts";
import { median } from "../../measure/median.ts";
import { shown, table } from "../table.ts";
import { ownCostsOf, processOrder, totalOf } from "./costs.ts";
import type { Section } from "./section.ts";

interface Price {
  name: string;
  adds: string;
  perSecond: number;
  /** CPU microseconds a request by kind of process. */
  costs: Map<string, number>;
  cost: number;
  aloneMs: number;
}

export function featuresSections(features: Features): Section[] {
  const prices = features.steps.map((step) => priceOf(step, features));
  const lines = prices.map(({ name, adds, perSecond, cost, aloneMs }, n) => {
    const before = prices[n - 1]?.cost;
    const difference = before === undefined ? "" : `${cost >= before ? "+" : "−"}${shown(Math.abs(cost - before))}`;
    return [name, adds, shown(perSecond), shown(cost), difference, shown(aloneMs)];
  });
  const head = ["step", "adds", "requests/s", "CPU µs a request", "difference", "one in flight: p50 ms"];
  const bars = prices.map(({ name, costs }): Bar => ({
    name,
    parts: [...costs].map(([kind, value]) => ({ name: kind, value })),
  }));
  const title = "The cost of each feature";
  const svg = barsSvg({
    title,
    axis: "CPU microseconds a request, by process",
    panels: [{ name: "", bars }],
    order: processOrder,
  });
  const plot = { name: "features", svg, alt: "CPU microseconds a request as one feature after the other is added" };
  return [{ name: "features", title, text: table(head, lines), plots: [plot] }];
}

function priceOf({ name, adds }: Features["steps"][number], { measurements }: Features): Price {
  const at = (connections: number) =>
    measurements.filter((one) => one.contender === name && one.load === `${connections} connections`);
  const many = at(manyConnections);
  const costs = middleCosts(many);
  return {
    name,
    adds,
    perSecond: median(many.map(({ result }) => result.perSecond)),
    costs,
    cost: totalOf(costs),
    aloneMs: median(at(1).map(({ result }) => result.latencyMs?.p50 ?? Number.NaN)),
  };
}

/** The median of the rounds by kind of process, without costs below half a microsecond. */
function middleCosts(rounds: Measurement[]): Map<string, number> {
  const each = rounds.map(ownCostsOf);
  const kinds = [...new Set(each.flatMap((costs) => [...costs.keys()]))];
  const middles = kinds.map((kind): [string, number] => [kind, median(each.map((costs) => costs.get(kind) ?? 0))]);
  return new Map(middles.filter(([, cost]) => cost >= 0.5));
}
