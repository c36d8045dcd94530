/** Gives the metrics of `/metrics` to OpenTelemetry, under their names. */
import { ValueType, type Attributes, type HrTime } from "@opentelemetry/api";
import type { Resource } from "@opentelemetry/resources";
import {
  AggregationTemporality,
  DataPointType,
  type CollectionResult,
  type DataPoint,
  type Histogram,
  type MetricData,
  type MetricProducer,
} from "@opentelemetry/sdk-metrics";
import { registry } from "../../kernel/metrics.ts";
import type { Clock } from "../../kernel/clock.ts";

/** A metric as the registry gives it. Its types do not know that a histogram's values name their series. */
interface Shown {
  name: string;
  help: string;
  type: string;
  values: { value: number; labels: Record<string, string | number>; metricName?: string }[];
}

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

type Times = Pick<DataPoint<number>, "startTime" | "endTime">;

function timeOf(ms: number): HrTime {
  return [Math.floor(ms / 1_000), Math.round((ms % 1_000) * 1_000_000)];
}

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

function attributesOf(labels: Record<string, string | number>): Attributes {
  return Object.fromEntries(Object.entries(labels).map(([name, value]) => [name, String(value)]));
}

/** A histogram of Prometheus has one value for each bound, which counts all below it. */
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
