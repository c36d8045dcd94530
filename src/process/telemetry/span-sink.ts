/** Makes spans and the conventions' metrics of finished work. */
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
import { randomBytes } from "node:crypto";
import type { TracedCall, TracedGeneration, TracedSpan, TracedWork, TraceSink } from "../../kernel/telemetry/traces.ts";
import { usdAsJsonNumber } from "../../kernel/money.ts";
import { callAttributes, durationBounds, firstTokenBounds, tokenAttributes, tokenBounds } from "./gen-ai.ts";
import { isTraced, readTraceparent, traceIdsOf, type TraceIds } from "./trace-ids.ts";

/** Gives the ids that the next span is to have. */
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

interface Finished extends TracedSpan {
  name: string;
  kind: SpanKind;
  attributes: Attributes;
  /** null: it succeeded. */
  error: string | null;
  links?: Link[];
}

interface SinkParts {
  ids: GivenIds;
  /** null: no spans are sent. */
  tracer: Tracer | null;
  /** null: no metrics are sent. */
  meter: Meter | null;
  /** Of generations that are traced. */
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

/** @param root the span that it is in; null: it is the root itself */
function record(tracer: Tracer, { name, kind, attributes, error, links, from, to }: Finished, root: TraceIds | null): void {
  const parent = root && { traceId: root.traceId, spanId: root.rootSpanId, traceFlags: TraceFlags.SAMPLED, isRemote: true };
  const context = parent === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent);
  const span = tracer.startSpan(name, { kind, attributes, links: links ?? [], startTime: timeOf(from) }, context);
  if (error !== null) span.setStatus({ code: SpanStatusCode.ERROR, message: error });
  span.end(timeOf(Math.max(from, to)));
}

/** Seconds and nanoseconds: the library takes a small number for a time since the start of the process. */
function timeOf(ms: number): HrTime {
  const seconds = Math.floor(ms / 1_000);
  return [seconds, Math.round((ms - seconds * 1_000) * 1_000_000)];
}

/** The caller's trace is linked, not continued: otherwise strangers would choose what is recorded, and under which id. */
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
  // By the conventions for HTTP, a request that the client got wrong is no error of the server.
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

function workSpan({ work, outcome, generation, from, to }: TracedWork): Finished {
  const attributes = { "weir.generation": generation, "weir.outcome": outcome };
  const [name, kind] = work === "admission" ? ["decide", SpanKind.SERVER] : ["settle", SpanKind.CONSUMER];
  return { name, kind, attributes, error: null, from, to };
}

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
