/** A collector of OpenTelemetry that keeps what it gets. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface SentAttribute {
  key: string;
  value: Record<string, unknown>;
}

export interface SentSpan {
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: SentAttribute[];
  links: { traceId: string; spanId: string }[];
  status: { code: number };
}

export interface SentMetric {
  name: string;
  unit: string;
  sum?: { dataPoints: { asDouble: number; attributes: SentAttribute[] }[] };
  histogram?: {
    dataPoints: { count: number; sum: number; bucketCounts: number[]; explicitBounds: number[]; attributes: SentAttribute[] }[];
  };
}

interface Body {
  resourceSpans?: { scopeSpans: { spans: SentSpan[] }[] }[];
  resourceMetrics?: { scopeMetrics: { metrics: SentMetric[] }[] }[];
}

export class OtlpCollector implements Disposable {
  readonly endpoint: string;
  /** The bodies as they came. */
  readonly bodies: string[] = [];
  /** Of the last call. */
  authorization = "";
  readonly #server: ReturnType<typeof createServer>;

  private constructor(server: ReturnType<typeof createServer>) {
    this.#server = server;
    this.endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  static async start(): Promise<OtlpCollector> {
    const server = createServer((request, response) => {
      let text = "";
      request.setEncoding("utf8");
      request.on("data", (part: string) => (text += part));
      request.on("end", () => {
        collector.authorization = request.headers.authorization ?? "";
        collector.bodies.push(text);
        response.setHeader("content-type", "application/json").end("{}");
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const collector = new OtlpCollector(server);
    return collector;
  }

  /** In the order in which they came. */
  get spans(): SentSpan[] {
    const resources = this.#read().flatMap(({ resourceSpans = [] }) => resourceSpans);
    return resources.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
  }

  get metrics(): SentMetric[] {
    const resources = this.#read().flatMap(({ resourceMetrics = [] }) => resourceMetrics);
    return resources.flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics));
  }

  [Symbol.dispose](): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #read(): Body[] {
    return this.bodies.map((text) => JSON.parse(text) as Body);
  }
}

export function attributesOf({ attributes }: { attributes: SentAttribute[] }): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
