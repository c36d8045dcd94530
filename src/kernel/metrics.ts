/**
 * Every metric and alarm, declared once; labels come from closed sets. `/metrics` writes them in the Prometheus text format, and
 * docs/reference/metrics.md explains each. An alarm is an error line in the log, and a count under the same name.
 *
 * No label names a workspace, a key or a person. Their number has no bound, each would cost every process and Prometheus memory for ever,
 * and the metrics would reveal who the customers are.
 */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";
import { errorTable } from "./errors.ts";
import type { Logger } from "./log.ts";
import { TalliedHistogram, Tally } from "./tallied-histogram.ts";

export const registry = new Registry();
// The default, sampling the event loop every 10 ms, would wake a process more often than its work does.
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

const firstTokenSeconds = new TalliedHistogram({
  name: "weir_first_token_seconds",
  help: "From admission to the first event of the provider",
  label: "provider",
  buckets: secondsBuckets,
  registers,
});

const generationSeconds = new TalliedHistogram({
  name: "weir_generation_seconds",
  help: "From admission to the end of the answer",
  label: "provider",
  buckets: secondsBuckets,
  registers,
});

const generationsTotal = new Counter({
  name: "weir_generations_total",
  help: "Generations that ended in this gateway",
  labelNames: ["provider", "code"],
  registers,
  collect: countEnded,
});

const admissionsTotal = new Counter({
  name: "weir_admissions_total",
  help: "Decisions of admission, as this gateway got them",
  labelNames: ["outcome"],
  registers,
  collect: countDecided,
});

const admissionSeconds = new TalliedHistogram({
  name: "weir_admission_seconds",
  help: "From a request to admission to its decision",
  buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
  registers,
});

/** Prometheus does not see the first increment of a new counter, so known errors start at zero. */
for (const [code, { status }] of Object.entries(errorTable)) requestsTotal.inc({ status, code }, 0);

/** Answers by code and status. */
const answered = new Tally<string, number>();

/** Counts an answer of the inference API. @param code "none" for a success */
export function countRequest(status: number, code: string): void {
  answered.add(code, status);
}

function countAnswered(): void {
  for (const [code, status, count] of answered.drain()) requestsTotal.inc({ status, code }, count);
}

interface GenerationEnd {
  provider: string;
  /** null: it succeeded. */
  code: string | null;
  durationMs: number;
  /** null: there was no token. */
  firstTokenMs: number | null;
}

/** Ended generations by provider and code. */
const ended = new Tally<string, string>();
/** Decisions of admission by outcome. */
const decided = new Tally<string, "">();

export function measureGeneration({ provider, code, durationMs, firstTokenMs }: GenerationEnd): void {
  ended.add(provider, code ?? "none");
  generationSeconds.count(durationMs / 1_000, provider);
  if (firstTokenMs !== null) firstTokenSeconds.count(firstTokenMs / 1_000, provider);
}

function countEnded(): void {
  for (const [provider, code, count] of ended.drain()) generationsTotal.inc({ provider, code }, count);
}

/** @param outcome "admitted", or the code of the refusal */
export function measureAdmission({ outcome, ms }: { outcome: string; ms: number }): void {
  decided.add(outcome, "");
  admissionSeconds.count(ms / 1_000);
}

function countDecided(): void {
  for (const [outcome, , count] of decided.drain()) admissionsTotal.inc({ outcome }, count);
}

export const upstreamFailuresTotal = new Counter({
  name: "weir_upstream_failures_total",
  help: "Calls of providers that failed, also where another call then served",
  labelNames: ["provider", "code"],
  registers,
});

export const tokensTotal = new Counter({
  name: "weir_tokens_total",
  help: "Tokens of booked generations; each is of one kind",
  labelNames: ["provider", "model", "kind"],
  registers,
});

export const chargedUsdTotal = new Counter({
  name: "weir_charged_usd_total",
  help: "Charges booked, for graphs only: the ledger is exact",
  labelNames: ["provider", "model"],
  registers,
});

export const excessUsdTotal = new Counter({
  name: "weir_excess_usd_total",
  help: "What providers counted above reservations: not charged",
  labelNames: ["provider"],
  registers,
});

export const unpaidUsdTotal = new Counter({
  name: "weir_unpaid_usd_total",
  help: "List price of requests that timed out after they were sent and were not charged",
  labelNames: ["provider"],
  registers,
});

export const promptsDroppedTotal = new Counter({
  name: "weir_prompts_dropped_total",
  help: "Prompts of workspaces with prompt storage that were not stored",
  labelNames: ["reason"],
  registers,
});

export const settlementDelaySeconds = new Histogram({
  name: "weir_settlement_delay_seconds",
  help: "From the end of an answer to its booking: the longest of each transaction",
  buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800],
  registers,
});

/** Each alarm also writes an error line with the same name to the log. docs/reference/metrics.md says what to do. */
export const alarms = [
  "charge.above_reservation",
  "charge.late",
  "charge.repeated",
  "generation.unknown",
  "generation.expired",
  "ledger.went_back",
  "statement.contradicted",
  "settlement.dead",
  "spool.failed",
  "catalog.unreadable",
  "connectors.unreadable",
  "upstream.auth",
  "own_key.unreadable",
  "service_key.unreadable",
  "mail.given_up",
  "scan.failed",
  "top_up.disputed",
  "top_up.not_credited",
  "top_up.refund_failed",
  "top_up.refused",
  "top_up.unknown",
] as const;
export type Alarm = (typeof alarms)[number];

export const alarmsTotal = new Counter({
  name: "weir_alarms_total",
  help: "Events that a person should look at",
  labelNames: ["alarm"],
  registers,
});
// From zero, so that the first one shows as an increase.
for (const alarm of alarms) alarmsTotal.inc({ alarm }, 0);

/** What each gauge shows, and its label. A process exposes the gauges that its parts observe. */
export const gauges = {
  weir_blocks_lent: { help: "Blocks of credit that the gateway decides requests with" },
  weir_admissions_unknown: { help: "Admissions to release, outcome unknown" },
  weir_build_info: { help: "1, with the version of this process", label: "version" },
  weir_credit_usd: { help: "Credit of all workspaces that have some, for graphs only: the ledger is exact" },
  weir_dependency_up: { help: "Whether a part that this gateway needs works: 1 or 0", label: "dependency" },
  weir_generations_open: { help: "Answers under way" },
  weir_generations_unsettled: { help: "Open holds: generations of this gateway that the ledger has not confirmed" },
  weir_metering_lag_seconds: { help: "Since when settlements wait without one being booked" },
  weir_prompts_waiting: { help: "Prompts that wait to be stored" },
  weir_reserved_usd: { help: "What the open holds of this gateway reserve" },
  weir_stream_events_waiting: { help: "Events that no worker has acknowledged", label: "stream" },
  weir_streams_read_on: { help: "Streams read to their end after the client left" },
  weir_workspaces: { help: "Workspaces by the credit that is left", label: "credit_usd" },
} as const satisfies Record<`weir_${string}`, { help: string; label?: string }>;

type Reading = number | Record<string, number>;

/** Shows a gauge of this process. @param read called at each scrape; the values by its label if it has one */
export function observe(name: keyof typeof gauges, read: () => Reading | Promise<Reading>): void {
  const { help, label }: { help: string; label?: string } = gauges[name];
  registry.removeSingleMetric(name);
  new Gauge({
    name,
    help,
    labelNames: label === undefined ? [] : [label],
    registers,
    async collect() {
      const reading = await read();
      this.reset();
      if (typeof reading === "number") return this.set(reading);
      for (const [value, count] of Object.entries(reading)) this.set({ [label ?? ""]: value }, count);
    },
  });
}

/** @param facts ids, names and amounts; never a prompt, a key or a provider's text */
export function raiseAlarm(log: Logger, alarm: Alarm, facts: Record<string, string | number>, message: string): void {
  alarmsTotal.inc({ alarm });
  log.error({ event: alarm, ...facts }, message);
}

// What this process shows of itself, apart from its metrics.

/** The alarms that it has raised, by their names. */
export async function raisedAlarms(): Promise<{ alarm: string; count: number }[]> {
  const { values } = await alarmsTotal.get();
  return values.flatMap(({ labels, value }) => (value > 0 ? [{ alarm: String(labels.alarm), count: value }] : []));
}

/** How many requests to the inference API it has answered. */
export async function answeredRequests(): Promise<number> {
  const { values } = await requestsTotal.get();
  return values.reduce((sum, { value }) => sum + value, 0);
}

/** The reading of a gauge without a label; null: none of its parts observes it. */
export async function gaugeReading(name: keyof typeof gauges): Promise<number | null> {
  const gauge = registry.getSingleMetric(name);
  if (gauge === undefined) return null;
  const { values } = await gauge.get();
  return values[0]?.value ?? null;
}
