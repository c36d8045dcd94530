import { describe, expect, test } from "bun:test";
import {
  apart,
  native,
  OversizedAnswer,
  type ChatBody,
  type NativeRequest,
  type ProviderEvent,
  type UpstreamFailure,
  type ProviderAnswer,
} from "../../../../src/gateway/providers/provider.ts";
import type { CallRoute, DispatchOptions } from "../../../../src/gateway/api/call/dispatch.ts";
import { signedToolCallId } from "../../../../src/gateway/tool-call-id.ts";
import { StopSignal } from "../../../../src/kernel/clock.ts";
import { drainMsMax, firstEventMsMax } from "../../../../src/gateway/limits.ts";
import { settled } from "../../../support/clock.ts";
import { OneByOne } from "../../../support/providers/one-by-one.ts";
import { end, FakeEvents, finish, text, usage } from "../../../support/providers/fake-events.ts";
import { failure, first, given, second, whole } from "../../../support/gateway/given-dispatch.ts";
import { candidate } from "../../../support/providers/candidates.ts";

const never = new Promise<ProviderAnswer>(() => {});

const ownRequest: NativeRequest = { format: "anthropic", body: {} };

/** A call that is sent at once. */
const sending =
  (reply: Promise<ProviderAnswer>) =>
  (...[, , { givenUp, onSent }]: Parameters<CallRoute>): Promise<ProviderAnswer> => {
    onSent();
    return Promise.race([reply, new Promise<never>((_, reject) => givenUp.listen(() => reject(failure("upstream_error"))))]);
  };

describe("the retry", () => {
  test.each([
    ["not answered in time", failure("upstream_timeout")],
    ["answered at too great a length", new OversizedAnswer("by the test")],
  ])("dispatch does not retry a request that was sent and %s, since its provider has worked on it", async (_, reason) => {
    let calls = 0;
    const callRoute: CallRoute = (...call) => {
      calls++;
      return sending(Promise.reject(reason))(...call);
    };
    expect(await given([], { callRoute }).outcome).toMatchObject({ kind: "failed", failure: reason });
    expect(calls).toBe(1);
  });

  const refused = failure("upstream_rejected");
  refused.isOfThoughts = true;
  const call = (id: string) => ({ id, type: "function", function: { name: "look_up", arguments: "{}" } });
  const calling = (id: string) => (): ReturnType<DispatchOptions["requestFor"]> => ({
    chat: { model: "acme/one", messages: [{ role: "assistant", tool_calls: [call("call_0"), call(id)] }] },
    maxOutputTokens: 100,
  });
  const requestFor = calling(signedToolCallId("call_1", { signer: "acme", base64: "dGhvdWdodA==" }));

  test.each([true, false])(
    "dispatch calls a route that refuses thoughts once more without them (fallbacks: %p)",
    async (fallbacks) => {
      const withoutThoughts: unknown[] = [];
      const refusing: CallRoute = (call) => {
        withoutThoughts.push(call.withoutThoughts);
        return Promise.reject(refused);
      };
      const { outcome } = given([], { callRoute: refusing, fallbacks, requestFor });
      expect(await outcome).toMatchObject({ kind: "failed", candidate: first, failure: refused });
      expect(withoutThoughts).toEqual([false, true]);
    },
  );

  test.each<[string, boolean, ChatBody]>([
    ["thoughts apart", true, { model: "m", messages: [{ role: "assistant", content: "Hi", [apart]: { thoughts: [] } }] }],
    ["other facts apart", false, { model: "m", messages: [{ role: "user", content: "Hi", [apart]: { late: true } }] }],
    ["a request of the route's own API, without thoughts", false, { model: "m", messages: [], [native]: ownRequest }],
  ])("dispatch does so for a request with %s: %p", async (_, again, chat) => {
    const candidates = [candidate("first", { format: "anthropic" })] as const;
    const { outcome, called } = given([refused, whole], { requestFor: () => ({ chat, maxOutputTokens: 100 }), candidates });
    expect((await outcome).kind).toBe(again ? "whole" : "failed");
    expect(called).toHaveLength(again ? 2 : 1);
  });

  test("dispatch does not do so for a request of another API than the route's, which gives none back", async () => {
    const chat = { model: "acme/one", messages: [], [native]: ownRequest };
    const { outcome } = given([refused, whole], { requestFor: () => ({ chat, maxOutputTokens: 100 }) });
    expect((await outcome).kind).toBe("failed");
  });

  test("dispatch asks each candidate for what the endpoint can show", async () => {
    const wanted: unknown[] = [];
    const failing: CallRoute = ({ wants }) => {
      wanted.push(wants);
      return Promise.reject(failure("upstream_error"));
    };
    const wants = { thoughts: true } as const;
    await given([], { callRoute: failing, requestFor: () => ({ chat: { model: "m", messages: [] }, maxOutputTokens: 1, wants }) })
      .outcome;
    expect(wanted).toEqual([wants, wants]);
  });

  test("dispatch does not do so for a request that gives none back, whatever the provider says", async () => {
    const { outcome, called } = given([refused, whole], { requestFor: calling("thinking") });
    expect(await outcome).toMatchObject({ kind: "failed", failure: refused });
    expect(called).toEqual(["first"]);
  });

  test("dispatch does not do so for a client that has left, nor after another retry", async () => {
    const client = new AbortController();
    let calls = 0;
    const leaving: CallRoute = () => {
      calls++;
      client.abort();
      return Promise.reject(refused);
    };
    expect((await given([], { callRoute: leaving, clientSignal: client.signal, requestFor }).outcome).kind).not.toBe("whole");
    expect(calls).toBe(1);
    expect((await given([failure("upstream_error"), refused, whole], { requestFor }).outcome).kind).toBe("failed");
  });

  test("dispatch does not retry after an error that is not a provider's failure", async () => {
    const callRoute = () => Promise.reject(new RangeError("not reserved"));
    await expect(given([], { callRoute }).outcome).rejects.toThrow("not reserved");
  });
});

describe("a stream", () => {
  const streamOf = (events: FakeEvents): ProviderAnswer => ({ kind: "stream", events });

  test("dispatch returns a stream from its beginning once its first event has arrived", async () => {
    const source = new FakeEvents([usage(5, 1), text("Hi"), finish(), end]);
    const { outcome, clock } = given([streamOf(source)], { streamed: true });
    const opened = await outcome;
    if (opened.kind !== "stream") throw new Error(opened.kind);
    const events = new OneByOne(opened.events);
    expect(opened.quiet).toBe(false);
    expect(await events.next()).toEqual(usage(5, 1));
    expect(await events.next()).toEqual(text("Hi"));
    expect(await events.next()).toEqual(finish());
    expect(clock.pending).toBe(0);
  });

  test.each([
    ["whose first event is a failure", [{ kind: "failure", failure: failure("upstream_error") }]],
    ["that counts the prompt and then fails", [usage(5, 1), { kind: "failure", failure: failure("upstream_rate_limited") }]],
    ["that ends before it began", [null]],
  ] as const)("dispatch retries a stream %s on the next route", async (_name, events) => {
    const good = new FakeEvents([text("Hi")]);
    const { outcome, called } = given([streamOf(new FakeEvents([...events])), streamOf(good)], { streamed: true });
    expect((await outcome).kind).toBe("stream");
    expect(called).toEqual(["first", "second"]);
  });

  test.each<[string, ProviderEvent]>([
    ["a role", { kind: "delta", delta: { role: "assistant", content: "" }, finishReason: null }],
    ["the end of a thought", { kind: "thought", seal: "S", redacted: false }],
  ])("dispatch retries a stream that fails together with %s on the next route", async (_, begun) => {
    const together = (...events: ProviderEvent[]): ProviderAnswer => {
      const cancel = (): Promise<void> => Promise.resolve();
      return { kind: "stream", events: { next: (taker) => taker.take(events), cancel, [Symbol.asyncDispose]: cancel } };
    };
    const failed: ProviderEvent = { kind: "failure", failure: failure("upstream_error") };
    const { outcome, called } = given([together(begun, failed), together(begun, text("Hi"))], { streamed: true });
    const opened = await outcome;
    if (opened.kind !== "stream") throw new Error(opened.kind);
    expect(called).toEqual(["first", "second"]);
    expect(await new OneByOne(opened.events).next()).toEqual(begun);
  });

  test("a stream starts after 15 s of silence, and a later failure is an event in it", async () => {
    let fail = (_: UpstreamFailure): void => {};
    const late = new Promise<ProviderAnswer>((_, reject) => (fail = reject));
    const { outcome, called, clock } = given([late, whole], { streamed: true });
    await clock.pass(firstEventMsMax);
    const opened = await outcome;
    if (opened.kind !== "stream") throw new Error(opened.kind);
    const events = new OneByOne(opened.events);
    expect(opened).toMatchObject({ quiet: true, candidate: first });
    fail(failure("upstream_error"));
    expect(await events.next()).toMatchObject({ kind: "failure", failure: { code: "upstream_error" } });
    expect(await events.next()).toBeNull();
    expect(called).toEqual(["first"]);
    expect(clock.pending).toBe(0);
  });

  test("a provider that answers after that continues the stream", async () => {
    let open = (_: ProviderAnswer): void => {};
    const late = new Promise<ProviderAnswer>((resolve) => (open = resolve));
    const { outcome, clock } = given([late], { streamed: true });
    await clock.pass(firstEventMsMax);
    const opened = await outcome;
    if (opened.kind !== "stream") throw new Error(opened.kind);
    const events = new OneByOne(opened.events);
    const next = events.next();
    open(streamOf(new FakeEvents([text("Hi"), end])));
    expect(await next).toEqual(text("Hi"));
    expect(await events.next()).toEqual(end);
  });

  test("cancelling a stream before its provider has answered aborts the call", async () => {
    const { outcome, giveUps, clock } = given([never], { streamed: true });
    await clock.pass(firstEventMsMax);
    const opened = await outcome;
    if (opened.kind !== "stream") throw new Error(opened.kind);
    const events = new OneByOne(opened.events);
    const next = events.next();
    await events.cancel();
    expect(giveUps[0]?.stopped).toBe(true);
    await next;
    expect(await events.next()).toBeNull();
  });

  test("a stream that opens after the client left is closed", async () => {
    const events = new FakeEvents();
    const client = new AbortController();
    const { outcome } = given([streamOf(events)], { streamed: true, clientSignal: client.signal });
    await settled();
    client.abort();
    expect((await outcome).kind).toBe("disconnected");
    expect(events.closed).toBe(true);
  });
});

describe("a client that leaves while the provider is silent", () => {
  const streamed = true;
  test.each([true, false])(
    "dispatch waits for a full answer when the client leaves, also if cancelling stops the bill: %p",
    async (stopsBill) => {
      const client = new AbortController();
      let reply = (_: ProviderAnswer): void => {};
      const late = new Promise<ProviderAnswer>((resolve) => (reply = resolve));
      const only = candidate("only", { cancelStopsBilling: stopsBill });
      const { outcome, giveUps, clock } = given([late, whole], { clientSignal: client.signal, candidates: [only, second] });
      await settled();
      client.abort();
      await clock.pass(2 * drainMsMax);
      expect(giveUps[0]?.stopped).toBe(false);
      reply(whole);
      expect(await outcome).toMatchObject({ kind: "whole", candidate: only });
      expect(clock.pending).toBe(0);
    },
  );

  test("dispatch does not retry when the first call fails after the client left", async () => {
    const client = new AbortController();
    let fail = (_: UpstreamFailure): void => {};
    const late = new Promise<ProviderAnswer>((_, reject) => (fail = reject));
    const { outcome, called } = given([late, whole], { clientSignal: client.signal });
    await settled();
    client.abort();
    fail(failure("upstream_error"));
    expect((await outcome).kind).toBe("failed");
    expect(called).toEqual(["first"]);
  });

  test("dispatch aborts a stream that is not billed then", async () => {
    const client = new AbortController();
    const { outcome, clock } = given([], { streamed, clientSignal: client.signal, callRoute: sending(never) });
    await settled();
    await clock.pass(1_000);
    client.abort();
    expect(await outcome).toMatchObject({ kind: "disconnected" });
    expect(clock.pending).toBe(0);
  });

  test("dispatch waits for a stream that is billed anyway, for its true usage", async () => {
    const client = new AbortController();
    let reply = (_: ProviderAnswer): void => {};
    const late = new Promise<ProviderAnswer>((resolve) => (reply = resolve));
    const billed = candidate("billed", { cancelStopsBilling: false });
    const { outcome, drainLimit, clock } = given([late], { streamed, clientSignal: client.signal, candidates: [billed] });
    await settled();
    client.abort();
    expect(drainLimit.active).toBe(1);
    reply({ kind: "stream", events: new FakeEvents([text("Hi")]) });
    expect((await outcome).kind).toBe("stream");
    expect(drainLimit.active).toBe(0);
    expect(clock.pending).toBe(0);
  });

  test("dispatch waits for such a stream for at most 60 s", async () => {
    const client = new AbortController();
    const billed = candidate("billed", { cancelStopsBilling: false });
    const { outcome, giveUps, clock, drainLimit } = given([never], {
      streamed,
      clientSignal: client.signal,
      candidates: [billed],
    });
    await settled();
    client.abort();
    await clock.pass(60_000 - 1);
    expect(giveUps[0]?.stopped).toBe(false);
    await clock.pass(1);
    expect((await outcome).kind).toBe("disconnected");
    expect(drainLimit.active).toBe(0);
  });

  test.each([
    ["stops the bill", true],
    ["does not stop it", false],
  ])("dispatch makes no call for a client that has left, if cancelling %s", async (_, cancelStopsBilling) => {
    const { outcome, called, drainLimit } = given([whole], {
      clientSignal: AbortSignal.abort(),
      candidates: [candidate("only", { cancelStopsBilling })],
    });
    expect((await outcome).kind).toBe("disconnected");
    expect(called).toEqual([]);
    expect(drainLimit.active).toBe(0);
  });
});

test("dispatch aborts its call when the process cannot wait any longer", async () => {
  const stop = new StopSignal();
  const { outcome, called } = given([never, whole], { stop });
  await settled();
  stop.stop();
  expect(await outcome).toMatchObject({ kind: "failed", failure: { code: "upstream_error" } });
  expect(called).toEqual(["first"]);
});
