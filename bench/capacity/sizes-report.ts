/** Predictions for fleets of several sizes: what ends first, how the cores are shared out, and what to change then. */
import { eventPartitionsMax } from "../../src/backing/limits.ts";
import { shown, table } from "../report/table.ts";
import { bestSize, capacityOf, coreHoursPerMillion, coresOf, rateOf, type Capacity, type Limit, type Size } from "./limits.ts";
import type { Fitted } from "./report.ts";

const coreCounts = [2, 8, 32, 128, 1_000];
const kinds: Record<string, string> = {
  gateway: "gateways",
  admission: "admission",
  "redis-server": "Redis",
  "nats-server": "NATS",
  metering: "metering",
  postgres: "PostgreSQL",
};

export function sizesTable({ model }: Fitted): string {
  return tableOf(coreCounts.map((cores) => bestSize(cores, model)));
}

export function sizeTable(size: Size, { model }: Fitted): string {
  return tableOf([capacityOf(size, model)]);
}

function tableOf(capacities: Capacity[]): string {
  const head = [
    "cores",
    "gateways + admission + Redis masters + metering",
    "requests/s",
    "ends by",
    "then by",
    "cores in use",
    "core-hours per million requests",
    "what to change then",
  ];
  return table(head, capacities.map(lineOf));
}

function lineOf(capacity: Capacity): string[] {
  const { size, limits } = capacity;
  const [first, next] = limits;
  const { cores, gateways, workers, masters, metering } = size;
  const then = next ? `${next.by} at ${shown(next.perSecond)}` : "";
  const busy = coresOf(capacity);
  const parts = Object.entries(kinds).map(([kind, name]) => `${name} ${(busy[kind] ?? 0).toFixed(1)}`);
  return [
    shown(cores),
    [gateways, workers, masters, metering].join(" + "),
    shown(rateOf(capacity)),
    first?.by ?? "",
    then,
    parts.join(", "),
    shown(coreHoursPerMillion(capacity)),
    first ? changeFor(first, limits) : "",
  ];
}

/** What brings more than this limit allows. */
function changeFor({ by, perSecond }: Limit, limits: Limit[]): string {
  const ofCores = limits.find((one) => one.by === "cores")?.perSecond ?? Number.NaN;
  const ledgers = `the workspaces over ${Math.ceil(ofCores / perSecond)} ledgers (not built)`;
  switch (by) {
    case "cores":
      return "more cores";
    case "Redis":
      return "more masters";
    case "metering":
      return `more processes, at most ${eventPartitionsMax}; then ${ledgers}`;
    case "PostgreSQL's log":
      return `a faster disk for the log, or ${ledgers}`;
    default:
      return "more of them";
  }
}
