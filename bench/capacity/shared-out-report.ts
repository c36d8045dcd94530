/** What several masters of Redis, several metering processes and one PostgreSQL cost, and how well one predicts several. */
import type { Metering } from "../parts/metering.ts";
import type { Shards } from "../parts/shards.ts";
import type { Facts } from "../report/facts.ts";
import { shown, table } from "../report/table.ts";
import { total } from "./costs.ts";
import { logBytesPerSecond } from "./limits.ts";
import { compared } from "./report.ts";
import { callCostOf, meteringPoint, predictRequest, shardPoint, type Servers } from "./shared-out.ts";

const single = { isCluster: false, masters: 1 };
const layouts: Servers[] = [single, { isCluster: true, masters: 1 }, { isCluster: true, masters: 3 }];
const messages = [4, 16, 128];
/** What the model was not fitted to. */
const checkedCalls = [
  { masters: 1, requests: 16 },
  { masters: 3, requests: 4 },
  { masters: 3, requests: 16 },
  { masters: 3, requests: 128 },
];
const processCounts = [1, 2];
const kinds = ["metering", "postgres", "redis-server", "nats-server"];

/** Empty where these parts were not measured. */
export function sharedOutTexts({ shards, metering }: Pick<Facts, "shards" | "metering">): string[] {
  if (!shards || !metering) return [];
  return [shardsTable(shards), meteringTable(metering), checksTable(shards, metering), databaseText(metering)];
}

function shardsTable(shards: Shards): string {
  const lines = messages.flatMap((requests) =>
    layouts.flatMap((servers) => {
      const [point, one] = [shardPoint(servers, requests, shards), shardPoint(single, requests, shards)];
      if (!point || !one) return [];
      const name = servers.isCluster ? `a cluster of ${servers.masters}` : "one Redis";
      const ratio = point.cpuMicros / one.cpuMicros;
      const more = [shown(point.cpuMicros), ratio.toFixed(2), (servers.masters / ratio).toFixed(2), shown(point.perSecond)];
      return [[String(requests), name, shown(point.calls), shown((point.cpuMicros * requests) / point.calls / 2), ...more]];
    }),
  );
  const head = [
    "requests in a message",
    "Redis",
    "calls a message",
    "CPU µs a call",
    "CPU µs a request",
    "÷ one Redis",
    "admissions of its cores ÷ one Redis's",
    "admissions/s of one client",
  ];
  return table(head, lines);
}

function meteringTable(metering: Metering): string {
  const lines = processCounts.flatMap((count) => {
    const point = meteringPoint(count, metering);
    if (!point) return [];
    const costs = kinds.map((kind) => shown(point.costs[kind] ?? Number.NaN));
    return [[String(count), shown(point.perSecond), shown(total(point.costs)), ...costs, shown(point.logBytes)]];
  });
  return table(["metering processes", "settled/s", "CPU µs a settlement", ...kinds, "bytes of the write-ahead log"], lines);
}

function checksTable(shards: Shards, metering: Metering): string {
  const cost = callCostOf(shards);
  const calls = checkedCalls.flatMap(({ masters, requests }) => {
    const point = shardPoint({ isCluster: true, masters }, requests, shards);
    if (!point || !cost) return [];
    const predicted = predictRequest({ requests, masters }, cost);
    return [[`Redis, a cluster of ${masters}, ${requests} requests in a message`, ...compared(predicted, point.cpuMicros)]];
  });
  const [one, several] = [meteringPoint(1, metering), meteringPoint(2, metering)];
  const settlements =
    one && several ? [["settlement, 2 metering processes", ...compared(total(one.costs), total(several.costs))]] : [];
  return table(["not used for the model", "CPU µs predicted", "measured", "error"], [...calls, ...settlements]);
}

/** What one primary ends at. */
function databaseText(metering: Metering): string {
  const point = meteringPoint(1, metering);
  if (point === null) return "";
  const { logBytes, databaseBytes, costs } = point;
  const rate = logBytesPerSecond / logBytes;
  const cores = (rate * (costs["postgres"] ?? Number.NaN)) / 1_000_000;
  return `A settlement leaves ${shown(logBytes)} bytes in the write-ahead log of PostgreSQL and ${shown(databaseBytes)} in the database. A disk that takes ${logBytesPerSecond / 1e6} MB of log a second, which is supposed and not measured, ends at ${shown(rate)} settlements a second, with ${shown(cores)} cores of PostgreSQL busy.`;
}
