/** Sends traces and metrics over OTLP. Loaded only where it is switched on. */
import { OTLPMetricExporter } from "@opentelemetry/exporter-metrics-otlp-http";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes, type Resource } from "@opentelemetry/resources";
import { MeterProvider, PeriodicExportingMetricReader } from "@opentelemetry/sdk-metrics";
import { BatchSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { hostname } from "node:os";
import { withDeadline, type Clock } from "../../kernel/clock.ts";
import type { Logger } from "../../kernel/log.ts";
import { sendTracesTo } from "../../kernel/telemetry/traces.ts";
import { telemetryFlushMs, telemetrySendMs, telemetrySpansBatch, telemetrySpansMax, telemetrySpansPauseMs } from "../limits.ts";
import { version } from "../version.ts";
import type { TelemetryConfig } from "./read-telemetry.ts";
import { RegistryProducer } from "./registry-producer.ts";
import { reported, type SendReports } from "./send-reports.ts";
import { GivenIds, spanSink } from "./span-sink.ts";

export interface TelemetryParts {
  config: TelemetryConfig;
  /** Of the process, such as "gateway". */
  role: string;
  clock: Clock;
  log: Logger;
}

/** @returns to dispose when the process ends: sends what waits, for two seconds at most */
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

/** What cannot be sent in time is dropped: telemetry never holds anything up, and the memory that it takes is bounded. */
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

function destination({ endpoint, headers }: TelemetryConfig, signal: "traces" | "metrics") {
  const revealed = Object.entries(headers).map(([name, secret]) => [name, secret.reveal()]);
  return {
    url: `${endpoint}/v1/${signal}`,
    headers: Object.fromEntries(revealed) as Record<string, string>,
    timeoutMillis: telemetrySendMs,
    concurrencyLimit: 2,
  };
}
