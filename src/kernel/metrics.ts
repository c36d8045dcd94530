/** Every metric, declared once; labels come from closed sets. `/metrics` writes them in the Prometheus text format. */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";

export const registry = new Registry();
collectDefaultMetrics({ register: registry });

const registers = [registry];
const secondsBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900];

export const requestsTotal = new Counter({
  name: "weir_requests_total",
  help: "Answers of the inference API by status and error code",
  labelNames: ["status", "code"],
  registers,
});

export const firstTokenSeconds = new Histogram({
  name: "weir_first_token_seconds",
  help: "From admission to the first event of the provider",
  labelNames: ["provider"],
  buckets: secondsBuckets,
  registers,
});

export const generationSeconds = new Histogram({
  name: "weir_generation_seconds",
  help: "From admission to the end of the answer",
  labelNames: ["provider"],
  buckets: secondsBuckets,
  registers,
});

export const chargedUsdTotal = new Counter({
  name: "weir_charged_usd_total",
  help: "Charges booked, for graphs only: the ledger is exact",
  labelNames: ["provider"],
  registers,
});

export const promptsDroppedTotal = new Counter({
  name: "weir_prompts_dropped_total",
  help: "Prompts of workspaces with prompt storage that were not stored",
  labelNames: ["reason"],
  registers,
});

/** Each is also an error line of the log with the same name. */
export type Alarm =
  | "charge.above_reservation"
  | "charge.late"
  | "generation.unknown"
  | "generation.expired"
  | "settlement.dead"
  | "spool.failed"
  | "catalog.unreadable"
  | "upstream.auth";

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
