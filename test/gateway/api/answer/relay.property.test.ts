import { expect, test } from "bun:test";
import fc from "fast-check";
import { ChatChunkWriter } from "../../../../src/gateway/api/answer/answer-format.ts";
import { webStream } from "../../../../src/gateway/api/answer/response.ts";
import { DrainLimit } from "../../../../src/gateway/api/answer/drains.ts";
import { relay, type StreamOutcome } from "../../../../src/gateway/api/answer/relay.ts";
import { UpstreamFailure, type FinishReason, type ProviderEvent } from "../../../../src/gateway/providers/provider.ts";
import { StopSignal } from "../../../../src/kernel/clock.ts";
import { ManualClock, settled } from "../../../support/clock.ts";
import { FakeEvents } from "../../../support/providers/fake-events.ts";
import { drainSlotIn } from "../../../support/providers/open-relay.ts";

const reasons: FinishReason[] = ["stop", "length", "tool_calls", "content_filter"];
const news: fc.Arbitrary<Record<string, unknown>> = fc.oneof(
  fc.record({ content: fc.string({ unit: "grapheme" }) }),
  fc.record({ role: fc.constant("assistant"), content: fc.string() }),
  fc.constant({}),
);
const delta: fc.Arbitrary<ProviderEvent> = fc
  .tuple(news, fc.option(fc.constantFrom(...reasons), { freq: 8 }))
  .map(([words, finishReason]) => ({ kind: "delta", delta: words, finishReason }));
const counts: fc.Arbitrary<ProviderEvent> = fc.record({
  kind: fc.constant("usage" as const),
  usage: fc.record({
    promptTokens: fc.nat(9),
    cachedTokens: fc.nat(9),
    cacheWriteTokens: fc.nat(9),
    completionTokens: fc.nat(9),
    reasoningTokens: fc.nat(9),
  }),
});
const failure: fc.Arbitrary<ProviderEvent> = fc
  .constantFrom("upstream_error" as const, "upstream_timeout" as const, "upstream_auth" as const)
  .map((code) => ({ kind: "failure", failure: new UpstreamFailure(code, "by the test") }));
const ending: fc.Arbitrary<ProviderEvent | null> = fc.oneof(
  failure,
  fc.constant<ProviderEvent>({ kind: "end" }),
  fc.constant(null),
);
const steps = fc.array(fc.constantFrom("event", "read", "time", "event", "read"), { maxLength: 40 });

interface Chunk {
  id?: string;
  created?: number;
  choices?: { delta: { role?: string; content?: string }; finish_reason: string | null }[];
  usage?: object | null;
  error?: { type: string; code: string };
}

/** The text that the client must receive, computed in the simplest way. */
function expectedText(events: (ProviderEvent | null)[]): { text: string; finished: boolean; failed: boolean } {
  let content = "";
  let finished = false;
  for (const event of events) {
    if (event === null || event.kind === "failure") return { text: content, finished, failed: !finished };
    if (event.kind === "end") break;
    if (event.kind !== "delta") continue;
    const piece = event.delta["content"];
    if (typeof piece === "string") content += piece;
    finished ||= event.finishReason !== null;
  }
  return { text: content, finished: true, failed: false };
}

function parsed(body: string): { chunks: Chunk[]; dones: number } {
  const data = body
    .split("\n")
    .filter((line) => line.startsWith("data: "))
    .map((line) => line.slice(6));
  return {
    chunks: data.filter((line) => line !== "[DONE]").map((line) => JSON.parse(line)),
    dones: data.filter((line) => line === "[DONE]").length,
  };
}

test("a stream keeps its order and ends once, for all events of a provider and all timings of its client", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof(delta, delta, counts), { maxLength: 12 }),
      ending,
      steps,
      fc.option(fc.nat(40)),
      fc.boolean(),
      fc.boolean(),
      async (deltas, last, plan, leavesAt, includeUsage, cancelStopsBilling) => {
        const events = [...deltas, last];
        const clock = new ManualClock();
        const drainLimit = new DrainLimit();
        const source = new FakeEvents();
        const outcomes: StreamOutcome[] = [];
        const stream = relay({
          createStream: webStream,
          events: source,
          writer: new ChatChunkWriter({ id: "gen-a", created: 1, model: "m", includeUsage }),
          quiet: false,
          acquireDrainSlot: () => (cancelStopsBilling ? null : drainSlotIn(drainLimit, clock.monotonic())),
          trackOutcome: () => {},
          clientSignal: new AbortController().signal,
          stop: new StopSignal(),
          clock,
          startedAt: 0,
          onEnd(outcome) {
            outcomes.push(outcome);
            return { promptTokens: 1, completionTokens: 1, cachedTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
          },
        });
        const reader = stream.getReader();
        const decoder = new TextDecoder();
        let body = "";
        let open = true;
        let left = false;
        let given = 0;
        const read = async () => {
          const { value, done } = await reader.read().catch(() => ({ value: undefined, done: (left = true) }));
          if (done) open = false;
          else body += decoder.decode(value, { stream: true });
        };
        const giveNext = () => given < events.length && source.give(events[given++] ?? null);
        const reads: Promise<void>[] = [];
        for (const [index, step] of plan.entries()) {
          if (index === leavesAt) break;
          if (step === "event") giveNext();
          else if (step === "read") reads.push(read());
          else clock.advance(15_000);
          await settled();
        }
        if (leavesAt !== null) await reader.cancel().catch(() => {});
        while (given < events.length) giveNext();
        await settled();
        while (open && leavesAt === null) await read();
        await Promise.all(reads);
        await settled();

        const { chunks, dones } = parsed(body);
        const wanted = expectedText(events);
        const choices = chunks.flatMap((chunk) => chunk.choices ?? []);
        const content = choices.map((choice) => choice.delta.content ?? "").join("");
        const finishes = choices.filter((choice) => choice.finish_reason !== null).length;
        expect(outcomes).toHaveLength(1);
        expect(source.closed).toBe(true);
        expect(source.cancelledAfterEnd).toBe(false);
        expect(clock.pending).toBe(0);
        expect(drainLimit.active).toBe(0);
        expect(choices.filter((choice) => choice.delta.role !== undefined).length).toBe(choices.length > 0 ? 1 : 0);
        expect(new Set(chunks.filter((chunk) => chunk.choices).map((chunk) => `${chunk.id} ${chunk.created}`)).size).toBeLessThan(
          2,
        );
        if (dones === 0) {
          expect(leavesAt !== null || left).toBe(true);
          expect(wanted.text).toStartWith(content);
          return;
        }
        expect(dones).toBe(1);
        expect(body).toEndWith("data: [DONE]\n\n");
        expect(content).toBe(wanted.text);
        expect(finishes).toBe(wanted.finished ? 1 : 0);
        expect(chunks.filter((chunk) => chunk.error).length).toBe(wanted.failed ? 1 : 0);
        expect(chunks.filter((chunk) => chunk.usage).length).toBe(includeUsage ? 1 : 0);
        expect(outcomes[0]?.how).toBe(wanted.failed ? "failed" : "completed");
      },
    ),
    { numRuns: 1_000 },
  );
}, 30_000);
