/**
 * Sends traces and metrics over OTLP. It is loaded only if an endpoint is set, since its packages take memory.
 *
 * An unreachable collector loses telemetry and nothing else: a bounded number of spans waits, further ones are dropped, and nothing is ever
 * delayed. The log says once that it cannot be reached, and once that it can be again. The metrics are those of `/metrics`, under the same
 * names.
 */
import { hostname } from "node:os";
import { ValueType, type Attributes, type HrTime } from "@opentelemetry/api";
import { OTLPMetricExporter } from "@opentelemetry/exporter-metrics-otlp-http";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes, type Resource } from "@opentelemetry/resources";
import {
  MeterProvider,
  PeriodicExportingMetricReader,
  AggregationTemporality,
  DataPointType,
  type CollectionResult,
  type DataPoint,
  type Histogram,
  type MetricData,
  type MetricProducer,
} from "@opentelemetry/sdk-metrics";
import { BatchSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { withDeadline, type Clock } from "../../kernel/clock.ts";
import type { Logger } from "../../kernel/log.ts";
import { registry } from "../../kernel/metrics.ts";
import { sendTracesTo } from "../../kernel/traces.ts";
import { telemetryFlushMs, telemetrySendMs, telemetrySpansBatch, telemetrySpansMax, telemetrySpansPauseMs } from "../limits.ts";
import { version } from "../version.ts";
import type { TelemetryConfig } from "./read-telemetry.ts";
import { GivenIds, spanSink } from "./span-sink.ts";

export interface TelemetryParts {
  config: TelemetryConfig;
  /** The role of the process, such as "gateway". */
  role: string;
  clock: Clock;
  log: Logger;
}

/** @returns dispose it when the process ends: it sends waiting spans, within two seconds */
export function openTelemetry({ config, role, clock, log }: TelemetryParts): AsyncDisposable {
  const resource = resourceFromAttributes({
    "service.name": config.service,
    "service.version": version,
    "service.instance.id": `${hostname()}-${process.pid}`,
    "weir.role": role,
  });
  const reports = reported(log);
  const ids = new GivenIds();
  const tracers = config.traces ? tracerProvider({ config, resource, ids, reports }) : null;
  const meters = config.metrics ? meterProvider({ config, resource, clock, reports }) : null;
  const tracer = tracers?.getTracer("weir", version) ?? null;
  const meter = meters?.getMeter("weir", version) ?? null;
  sendTracesTo(spanSink({ ids, tracer, meter, share: config.share }));
  log.info({ event: "telemetry.opened", endpoint: config.endpoint, traces: config.traces, metrics: config.metrics });
  return {
    async [Symbol.asyncDispose]() {
      sendTracesTo(null);
      const flushed = Promise.allSettled([tracers?.shutdown(), meters?.shutdown()]);
      await withDeadline(clock, telemetryFlushMs, "Sending telemetry", flushed).catch(() => {});
    },
  };
}

/** A metric as the registry returns it. The registry's types omit that a histogram's values name their series. */
interface Shown {
  name: string;
  help: string;
  type: string;
  values: { value: number; labels: Record<string, string | number>; metricName?: string }[];
}

/** Gives the metrics of `/metrics` to OpenTelemetry. */
export class RegistryProducer implements MetricProducer {
  readonly #resource: Resource;
  readonly #clock: Clock;
  readonly #startTime: HrTime;

  constructor(resource: Resource, clock: Clock) {
    this.#resource = resource;
    this.#clock = clock;
    this.#startTime = timeOf(clock.now());
  }

  async collect(): Promise<CollectionResult> {
    const shown = (await registry.getMetricsAsJSON()) as unknown as Shown[];
    const times = { startTime: this.#startTime, endTime: timeOf(this.#clock.now()) };
    const metrics = shown.flatMap((metric) => metricData(metric, times) ?? []);
    return { resourceMetrics: { resource: this.#resource, scopeMetrics: [{ scope: { name: "weir" }, metrics }] }, errors: [] };
  }
}

/** The result of OpenTelemetry's exporters: 0 is success. */
interface SendResult {
  code: number;
  error?: Error;
}

interface Exporter<T> {
  export(batch: T, done: (result: SendResult) => void): void;
}

export interface SendReports {
  /** @returns the same exporter, which now reports its results */
  watch<T, E extends Exporter<T>>(exporter: E & Exporter<T>): E;
}

/** Logs when telemetry cannot be sent, and when it can again: once each, since a collector may be down for days. */
export function reported(log: Logger): SendReports {
  let isFailing = false;
  const report = ({ code, error }: SendResult): void => {
    if (code === 0 && isFailing) log.info({ event: "telemetry.restored" }, "Telemetry is sent again");
    // The error's message may quote the collector's answer.
    if (code !== 0 && !isFailing) log.warn({ event: "telemetry.failed", reason: error?.name ?? "" }, failed);
    isFailing = code !== 0;
  };
  return {
    watch(exporter) {
      const send = exporter.export.bind(exporter);
      exporter.export = (batch, done) => {
        send(batch, (result) => {
          report(result);
          done(result);
        });
      };
      return exporter;
    },
  };
}

const failed = "Telemetry cannot be sent: traces are lost until it can, and nothing else is";

/** Drops what cannot be sent in time. */
function tracerProvider({
  config,
  resource,
  ids,
  reports,
}: {
  config: TelemetryConfig;
  resource: Resource;
  ids: GivenIds;
  reports: SendReports;
}): TracerProvider {
  const exporter = new OTLPTraceExporter(destination(config, "traces"));
  const processor = new BatchSpanProcessor({
    exporter: reports.watch(exporter),
    maxQueueSize: telemetrySpansMax,
    maxExportBatchSize: telemetrySpansBatch,
    scheduledDelayMillis: telemetrySpansPauseMs,
    exportTimeoutMillis: telemetrySendMs,
  });
  return new TracerProvider({ resource, idGenerator: ids, spanProcessors: [processor] });
}

function destination({ endpoint, headers }: TelemetryConfig, signal: "traces" | "metrics") {
  const revealed = Object.entries(headers).map(([name, secret]) => [name, secret.reveal()]);
  return {
    url: `${endpoint}/v1/${signal}`,
    headers: Object.fromEntries(revealed) as Record<string, string>,
    timeoutMillis: telemetrySendMs,
    concurrencyLimit: 2,
  };
}

function meterProvider({
  config,
  resource,
  clock,
  reports,
}: {
  config: TelemetryConfig;
  resource: Resource;
  clock: Clock;
  reports: SendReports;
}): MeterProvider {
  const reader = new PeriodicExportingMetricReader({
    exporter: reports.watch(new OTLPMetricExporter(destination(config, "metrics"))),
    exportIntervalMillis: config.metricsEveryMs,
    exportTimeoutMillis: Math.min(telemetrySendMs, config.metricsEveryMs),
    metricProducers: [new RegistryProducer(resource, clock)],
  });
  return new MeterProvider({ resource, readers: [reader] });
}

function timeOf(ms: number): HrTime {
  return [Math.floor(ms / 1_000), Math.round((ms % 1_000) * 1_000_000)];
}

type Times = Pick<DataPoint<number>, "startTime" | "endTime">;

/** null: it has no values, or a type that Weir does not use. */
function metricData(metric: Shown, times: Times): MetricData | null {
  const { name, help: description, type } = metric;
  const descriptor = { name, description, unit: unitOf(name), valueType: ValueType.DOUBLE };
  const shared = { descriptor, aggregationTemporality: AggregationTemporality.CUMULATIVE };
  if (type === "histogram") return { ...shared, dataPointType: DataPointType.HISTOGRAM, dataPoints: histogramsOf(metric, times) };
  const dataPoints = metric.values.flatMap(({ value, labels }) => {
    return Number.isFinite(value) ? [{ ...times, attributes: attributesOf(labels), value }] : [];
  });
  if (dataPoints.length === 0) return null;
  if (type === "counter") return { ...shared, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints };
  return type === "gauge" ? { ...shared, dataPointType: DataPointType.GAUGE, dataPoints } : null;
}

function unitOf(name: string): string {
  if (/_seconds(_total)?$/.test(name)) return "s";
  return name.endsWith("_bytes") ? "By" : "";
}

/** A Prometheus histogram has one value for each bound, which counts everything below it. */
function histogramsOf({ values }: Shown, times: Times): DataPoint<Histogram>[] {
  const points = new Map<string, { attributes: Attributes; bounds: number[]; below: number[]; sum: number; count: number }>();
  for (const { labels: all, value, metricName = "" } of values) {
    const { le, ...labels } = all;
    const name = JSON.stringify(labels);
    const point = points.get(name) ?? { attributes: attributesOf(labels), bounds: [], below: [], sum: 0, count: 0 };
    points.set(name, point);
    if (metricName.endsWith("_sum")) point.sum = value;
    else if (metricName.endsWith("_count")) point.count = value;
    else if (le !== "+Inf") {
      point.bounds.push(Number(le));
      point.below.push(value);
    }
  }
  return [...points.values()].map(({ attributes, bounds: boundaries, below, sum, count }) => {
    const counts = [...below, count].map((value, index) => value - (below[index - 1] ?? 0));
    return { ...times, attributes, value: { buckets: { boundaries, counts }, sum, count } };
  });
}

function attributesOf(labels: Record<string, string | number>): Attributes {
  return Object.fromEntries(Object.entries(labels).map(([name, value]) => [name, String(value)]));
}
