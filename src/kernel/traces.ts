/**
 * Where finished work is reported for traces. By default traces are off, and a request costs one check.
 *
 * Work is reported with its times after it has ended, so that no trace context is passed through the code. Reports have ids, counts and
 * amounts, never a prompt, an answer or a key. This module knows no package of OpenTelemetry; `process/telemetry` does.
 */
import type { Clock } from "./clock.ts";
import type { GenerationId, KeyId, WorkspaceId } from "./ids.ts";
import type { NanoUsd } from "./money.ts";

/** From and to, in milliseconds since the epoch. */
export interface TracedSpan {
  from: number;
  to: number;
}

/** A call of a provider. */
export interface TracedCall extends TracedSpan {
  provider: string;
  /** As the provider names it. */
  model: string;
  /** The provider's address. */
  baseUrl: string;
  /** null: it answered. */
  code: string | null;
}

interface TracedTokens {
  prompt: number;
  cached: number;
  cacheWrite: number;
  completion: number;
}

/** An accepted request, from its arrival to the end of its answer. */
export interface TracedGeneration extends TracedSpan {
  generation: GenerationId;
  workspace: WorkspaceId;
  key: KeyId;
  /** The header of the caller; null: it sent none. */
  traceparent: string | null;
  path: string;
  operation: "chat" | "text_completion" | "embeddings";
  /** The id of the requested model. */
  model: string;
  streamed: boolean;
  admission: TracedSpan;
  /** The calls to providers, in order. The last one served the request, or failed last. */
  calls: TracedCall[];
  /** Since admission; null: nothing was produced. */
  firstTokenMs: number | null;
  status: number;
  code: string | null;
  tokens: TracedTokens;
  charged: NanoUsd;
}

/** What a worker did for a generation. */
export interface TracedWork extends TracedSpan {
  generation: GenerationId;
  work: "admission" | "settlement";
  /** "admitted", or how a settlement ended the generation. */
  outcome: string;
}

export interface TraceSink {
  generation(ended: TracedGeneration): void;
  work(done: TracedWork): void;
}

let sink: TraceSink | null = null;

/** null: traces are off. */
export function traces(): TraceSink | null {
  return sink;
}

/** @param to null: nowhere */
export function sendTracesTo(to: TraceSink | null): void {
  sink = to;
}

/** What is known of a request when it arrives. */
export interface TraceStart {
  /** Monotonic milliseconds. */
  receivedAt: number;
  traceparent: string | null;
  path: string;
}

/** Call it when a request arrives. null: traces are off. */
export function startTrace(request: Request, clock: Clock): TraceStart | null {
  if (sink === null) return null;
  const { pathname: path } = new URL(request.url);
  return { receivedAt: clock.monotonic(), traceparent: request.headers.get("traceparent"), path };
}

/** From `startedAt`, in monotonic milliseconds, until now. */
export function spanSince(startedAt: number, clock: Clock): TracedSpan {
  const wall = wallTimes(clock);
  return { from: wall(startedAt), to: wall(clock.monotonic()) };
}

/** Turns times of the monotonic clock into those of the wall clock. */
export function wallTimes(clock: Clock): (monotonicMs: number) => number {
  const offset = clock.now() - clock.monotonic();
  return (monotonicMs) => offset + monotonicMs;
}
