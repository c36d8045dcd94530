/** A stream to a client with a clock and a source of events that the test controls. */
import type { DrainLimit, DrainSlot } from "../../../src/gateway/api/answer/drains.ts";
import { drainMsMax } from "../../../src/gateway/limits.ts";
import { ChatChunkWriter } from "../../../src/gateway/api/answer/answer-format.ts";
import { relay, type RelayOptions, type StreamOutcome } from "../../../src/gateway/api/answer/relay.ts";
import { StopSignal } from "../../../src/kernel/clock.ts";
import { webStream } from "../../../src/gateway/api/answer/response.ts";
import { ManualClock } from "../clock.ts";
import { FakeEvents } from "./fake-events.ts";

export const charged = { promptTokens: 5, completionTokens: 7, cachedTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };

interface Given {
  events?: FakeEvents;
  includeUsage?: boolean;
  options?: Partial<RelayOptions>;
}

export function openRelay({ events = new FakeEvents(), includeUsage = false, options = {} }: Given = {}) {
  const clock = new ManualClock();
  const outcomes: StreamOutcome[] = [];
  const stream = relay({
    createStream: webStream,
    events,
    writer: new ChatChunkWriter({ id: "gen-a", created: 1_795_000_000, model: "sandbox/echo", includeUsage }),
    quiet: false,
    acquireDrainSlot: () => null,
    trackOutcome: () => {},
    clientSignal: new AbortController().signal,
    stop: new StopSignal(),
    clock,
    startedAt: 0,
    onEnd: (outcome) => (outcomes.push(outcome), charged),
    ...options,
  });
  return { stream, clock, events, outcomes };
}

/** For a client that disconnected at `nowMs`. */
export function drainSlotIn(drainLimit: DrainLimit, nowMs: number): DrainSlot | null {
  const release = drainLimit.acquire("ws-1");
  return release && { until: nowMs + drainMsMax, release };
}

export async function allOf(stream: ReadableStream<Uint8Array>): Promise<string> {
  return new Response(stream).text();
}

/** The JSON of each `data:` line, "[DONE]" unchanged. */
export function dataOf(body: string): unknown[] {
  const events = body.split("\n").filter((line) => line.startsWith("data: "));
  return events.map((event) => (event === "data: [DONE]" ? "[DONE]" : JSON.parse(event.slice(6))));
}
