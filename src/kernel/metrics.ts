/** Every metric, declared once; labels come from closed sets. `/metrics` writes them in the Prometheus text format. */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";

export const registry = new Registry();
// The default, a look at the event loop every 10 ms, would wake a process more often than its work does.
collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 100 });
// On Bun, reading these runs a full garbage collection, which would stop the process at every scrape.
for (const what of ["total", "used", "available"]) registry.removeSingleMetric(`nodejs_heap_space_size_${what}_bytes`);

const registers = [registry];
const secondsBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900];

const requestsTotal = new Counter({
  name: "weir_requests_total",
  help: "Answers of the inference API by status and error code",
  labelNames: ["status", "code"],
  registers,
  collect: countAnswered,
});

const firstTokenSeconds = new Histogram({
  name: "weir_first_token_seconds",
  help: "From admission to the first event of the provider",
  labelNames: ["provider"],
  buckets: secondsBuckets,
  registers,
  collect: countEnded,
});

const generationSeconds = new Histogram({
  name: "weir_generation_seconds",
  help: "From admission to the end of the answer",
  labelNames: ["provider"],
  buckets: secondsBuckets,
  registers,
  collect: countEnded,
});

/** Cached by labels: a lookup through the library costs more than counting. */
const generations = new Map<string, { whole: Histogram.Internal<"provider">; first: Histogram.Internal<"provider"> }>();

/** Counts since the last scrape, by code and status: counting each in the library would cost a request 1 % of the gateway's time. */
const answered = new Map<string, Map<number, number>>();

/** Counts an answer of the inference API. @param code "none" for a success */
export function countRequest(status: number, code: string): void {
  const byStatus = answered.get(code) ?? new Map<number, number>();
  if (byStatus.size === 0) answered.set(code, byStatus);
  byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
}

function countAnswered(): void {
  for (const [code, byStatus] of answered) for (const [status, count] of byStatus) requestsTotal.inc({ status, code }, count);
  answered.clear();
}

export interface GenerationEnd {
  provider: string;
  durationMs: number;
  /** null: there was no token. */
  firstTokenMs: number | null;
}

/** Counted in batches, when enough wait or at a scrape: one at a time, each costs its request 2 % of the gateway's time. */
const ended: GenerationEnd[] = [];
const endedMax = 1_000;

export function measureGeneration(end: GenerationEnd): void {
  ended.push(end);
  if (ended.length >= endedMax) countEnded();
}

function countEnded(): void {
  for (const { provider, durationMs, firstTokenMs } of ended.splice(0)) {
    const found = generations.get(provider);
    const child = found ?? { whole: generationSeconds.labels({ provider }), first: firstTokenSeconds.labels({ provider }) };
    if (!found) generations.set(provider, child);
    child.whole.observe(durationMs / 1_000);
    if (firstTokenMs !== null) child.first.observe(firstTokenMs / 1_000);
  }
}

export const chargedUsdTotal = new Counter({
  name: "weir_charged_usd_total",
  help: "Charges booked, for graphs only: the ledger is exact",
  labelNames: ["provider"],
  registers,
});

export const excessUsdTotal = new Counter({
  name: "weir_excess_usd_total",
  help: "What providers counted above reservations: not charged",
  labelNames: ["provider"],
  registers,
});

export const promptsDroppedTotal = new Counter({
  name: "weir_prompts_dropped_total",
  help: "Prompts of workspaces with prompt storage that were not stored",
  labelNames: ["reason"],
  registers,
});

/** Each alarm also writes an error line with the same name to the log. */
export type Alarm =
  | "charge.above_reservation"
  | "charge.late"
  | "generation.unknown"
  | "generation.expired"
  | "ledger.went_back"
  | "statement.contradicted"
  | "settlement.dead"
  | "spool.failed"
  | "catalog.unreadable"
  | "connectors.unreadable"
  | "upstream.auth"
  | "own_key.unreadable"
  | "mail.given_up"
  | "scan.failed"
  | "top_up.disputed"
  | "top_up.not_credited"
  | "top_up.refund_failed"
  | "top_up.refused"
  | "top_up.unknown";

export const alarmsTotal = new Counter({
  name: "weir_alarms_total",
  help: "Events that a person should look at",
  labelNames: ["alarm"],
  registers,
});

/** A gauge that is read when it is scraped. */
export function observe(gauge: { name: `weir_${string}`; help: string }, read: () => number): void {
  registry.removeSingleMetric(gauge.name);
  new Gauge({
    ...gauge,
    registers,
    collect() {
      this.set(read());
    },
  });
}
