/**
 * Makes spans of finished work, and the metrics of OpenTelemetry's conventions for generative AI
 * (https://opentelemetry.io/docs/specs/semconv/gen-ai/).
 *
 * A trace's id is derived from its generation's. So every process computes it by itself, even the successor of a gateway that died, and the
 * id of a generation is enough to find its trace. All processes choose the same generations for the configured share.
 *
 * A caller's `traceparent` is linked, not continued: otherwise strangers would decide what is recorded, and under which id. Providers get
 * no `traceparent`: they do not use it, and it would reveal which of their calls belong together.
 */
import { randomBytes, createHash } from "node:crypto";
import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Attributes,
  type HrTime,
  type Link,
  type Meter,
  type Tracer,
} from "@opentelemetry/api";
import type { IdGenerator } from "@opentelemetry/sdk-trace";
import { usdAsJsonNumber } from "../../kernel/money.ts";
import type { TracedCall, TracedGeneration, TracedSpan, TracedWork, TraceSink } from "../../kernel/traces.ts";

/** Sets the ids of the next span. */
export class GivenIds implements IdGenerator {
  #root: TraceIds | null = null;

  /** Makes a span that is the root of its trace. */
  asRoot<T>(ids: TraceIds, start: () => T): T {
    this.#root = ids;
    const started = start();
    this.#root = null;
    return started;
  }

  generateTraceId(): string {
    return this.#root?.traceId ?? randomBytes(16).toString("hex");
  }

  generateSpanId(): string {
    return this.#root?.rootSpanId ?? randomBytes(8).toString("hex");
  }
}

interface SinkParts {
  ids: GivenIds;
  /** null: no spans are sent. */
  tracer: Tracer | null;
  /** null: no metrics are sent. */
  meter: Meter | null;
  /** The share of generations that are traced, 0 to 1. */
  share: number;
}

export function spanSink({ ids, tracer, meter, share }: SinkParts): TraceSink {
  const measure = meter === null ? null : measures(meter);
  return {
    generation(ended) {
      measure?.(ended);
      const root = traceIdsOf(ended.generation);
      if (tracer === null || !isTraced(root, share)) return;
      ids.asRoot(root, () => record(tracer, requestSpan(ended), null));
      record(tracer, admissionSpan(ended), root);
      for (const call of ended.calls) record(tracer, callSpan(ended, call), root);
    },
    work(done) {
      const root = traceIdsOf(done.generation);
      if (tracer !== null && isTraced(root, share)) record(tracer, workSpan(done), root);
    },
  };
}

interface TraceIds {
  /** 32 hexadecimal digits. */
  traceId: string;
  /** The span that contains all others of the trace, 16 hexadecimal digits. */
  rootSpanId: string;
}

/** The ids of a trace, made from the id of its generation. */
export function traceIdsOf(generation: string): TraceIds {
  const digest = createHash("sha256").update(generation).digest("hex");
  return { traceId: digest.slice(0, 32), rootSpanId: digest.slice(32, 48) };
}

const header = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/;

/** Reads the header `traceparent` of https://www.w3.org/TR/trace-context/. null: it is absent or invalid. */
export function readTraceparent(value: string | null): { traceId: string; spanId: string; traceFlags: number } | null {
  const [, traceId = "", spanId = "", flags = ""] = header.exec(value ?? "") ?? [];
  return traceId === "" ? null : { traceId, spanId, traceFlags: parseInt(flags, 16) };
}

/** The bounds of the conventions' histograms. */
const durationBounds = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const tokenBounds = Array.from({ length: 14 }, (_, power) => 4 ** power);
const firstTokenBounds = [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];

function measures(meter: Meter): (ended: TracedGeneration) => void {
  const histogram = (name: string, unit: string, explicitBucketBoundaries: number[]) =>
    meter.createHistogram(name, { unit, advice: { explicitBucketBoundaries } });
  const duration = histogram("gen_ai.client.operation.duration", "s", durationBounds);
  const tokenUsage = histogram("gen_ai.client.token.usage", "{token}", tokenBounds);
  const firstToken = histogram("gen_ai.server.time_to_first_token", "s", firstTokenBounds);
  return (ended) => {
    for (const call of ended.calls) duration.record(Math.max(0, call.to - call.from) / 1_000, callAttributes(ended, call));
    const served = ended.calls.at(-1);
    if (served === undefined || served.code !== null) return;
    const attributes = callAttributes(ended, served);
    tokenUsage.record(ended.tokens.prompt, { ...attributes, "gen_ai.token.type": "input" });
    if (ended.operation !== "embeddings")
      tokenUsage.record(ended.tokens.completion, { ...attributes, "gen_ai.token.type": "output" });
    if (ended.streamed && ended.firstTokenMs !== null) firstToken.record(ended.firstTokenMs / 1_000, attributes);
  };
}

/** Well-known names of providers that have another id in the catalog. */
const providerNames: Record<string, string> = {
  google: "gcp.gemini",
  mistral: "mistral_ai",
  moonshot: "moonshot_ai",
  xai: "x_ai",
};

/** The attributes of a call in spans and metrics. */
function callAttributes({ operation }: TracedGeneration, { provider, model, baseUrl, code }: TracedCall): Attributes {
  return {
    "gen_ai.operation.name": operation,
    "gen_ai.provider.name": providerNames[provider] ?? provider,
    "gen_ai.request.model": model,
    ...serverOf(baseUrl),
    ...(code !== null && { "error.type": code }),
  };
}

/** Cached by address, since parsing one is slow. The catalog bounds their number. */
const servers = new Map<string, Attributes>();

function serverOf(baseUrl: string): Attributes {
  const known = servers.get(baseUrl);
  if (known !== undefined) return known;
  const { hostname, port, protocol } = new URL(baseUrl);
  const standard = protocol === "http:" ? 80 : 443;
  const server = { "server.address": hostname, "server.port": port === "" ? standard : Number(port) };
  servers.set(baseUrl, server);
  return server;
}

/** @param share of generations that are traced, 0 to 1 */
function isTraced({ traceId }: TraceIds, share: number): boolean {
  return parseInt(traceId.slice(0, 8), 16) < share * 2 ** 32;
}

interface Finished extends TracedSpan {
  name: string;
  kind: SpanKind;
  attributes: Attributes;
  /** null: it succeeded. */
  error: string | null;
  links?: Link[];
}

/** @param root the span that contains it; null: it is the root itself */
function record(tracer: Tracer, { name, kind, attributes, error, links, from, to }: Finished, root: TraceIds | null): void {
  const parent = root && { traceId: root.traceId, spanId: root.rootSpanId, traceFlags: TraceFlags.SAMPLED, isRemote: true };
  const context = parent === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent);
  const span = tracer.startSpan(name, { kind, attributes, links: links ?? [], startTime: timeOf(from) }, context);
  if (error !== null) span.setStatus({ code: SpanStatusCode.ERROR, message: error });
  span.end(timeOf(Math.max(from, to)));
}

/** Seconds and nanoseconds: the library would read a small number as a time since the start of the process. */
function timeOf(ms: number): HrTime {
  const seconds = Math.floor(ms / 1_000);
  return [seconds, Math.round((ms - seconds * 1_000) * 1_000_000)];
}

/** The request from its arrival to the end of its answer, linked to the caller's own trace. */
function requestSpan(ended: TracedGeneration): Finished {
  const { generation, workspace, key, path, status, code, model, streamed, firstTokenMs, charged, from, to } = ended;
  const caller = readTraceparent(ended.traceparent);
  const attributes = {
    "http.request.method": "POST",
    "http.route": path,
    "http.response.status_code": status,
    ...(code !== null && { "error.type": code }),
    "weir.generation": generation,
    "weir.workspace": workspace,
    "weir.key": key,
    "weir.model": model,
    "weir.streamed": streamed,
    "weir.charged_usd": usdAsJsonNumber(charged),
    ...(firstTokenMs !== null && { "weir.first_token_ms": firstTokenMs }),
  };
  const links = caller === null ? [] : [{ context: { ...caller, isRemote: true } }];
  // By the HTTP conventions, a client's error is not an error of the server.
  const error = code !== null && (status >= 500 || status < 400) ? code : null;
  return { name: `POST ${path}`, kind: SpanKind.SERVER, attributes, error, links, from, to };
}

function admissionSpan({ admission }: TracedGeneration): Finished {
  return { name: "admit", kind: SpanKind.INTERNAL, attributes: {}, error: null, ...admission };
}

function callSpan(ended: TracedGeneration, call: TracedCall): Finished {
  const { from, to, code, model } = call;
  const served = call === ended.calls.at(-1) ? tokenAttributes(ended) : {};
  const attributes = { ...callAttributes(ended, call), ...served };
  return { name: `${ended.operation} ${model}`, kind: SpanKind.CLIENT, attributes, error: code, from, to };
}

function tokenAttributes({ tokens }: TracedGeneration): Attributes {
  return {
    "gen_ai.usage.input_tokens": tokens.prompt,
    "gen_ai.usage.output_tokens": tokens.completion,
    "gen_ai.usage.cache_read.input_tokens": tokens.cached,
    "gen_ai.usage.cache_creation.input_tokens": tokens.cacheWrite,
  };
}

function workSpan({ work, outcome, generation, from, to }: TracedWork): Finished {
  const attributes = { "weir.generation": generation, "weir.outcome": outcome };
  const [name, kind] = work === "admission" ? ["decide", SpanKind.SERVER] : ["settle", SpanKind.CONSUMER];
  return { name, kind, attributes, error: null, from, to };
}
