import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { callStream, callWhole, failureOf, readAll, type TestCall } from "../../support/providers/call.ts";
import { ManualClock } from "../../support/clock.ts";
import { aRoute } from "../../support/providers/models.ts";
import type { OneByOne } from "../../support/providers/one-by-one.ts";
import { startProviderStub } from "../../support/providers/provider-stub.ts";
import { chat, hang, ManualStream, silent } from "../../support/providers/stub-answers.ts";

const clocks = { connectMs: 5_000, firstByteMs: 600_000, idleMs: 300_000, streamMs: 900_000 };
let clock = new ManualClock();
let provider = await startProviderStub();
beforeEach(async () => {
  await provider[Symbol.asyncDispose]();
  provider = await startProviderStub();
  clock = new ManualClock();
});
afterAll(() => provider[Symbol.asyncDispose]());

function timed(context: TestCall["context"] = {}): TestCall {
  return { route: aRoute({ base_url: provider.url }), context: { clock, clocks, ...context } };
}

async function opened(manual: ManualStream): Promise<OneByOne> {
  provider.answer(manual.answer);
  return callStream(timed());
}

describe("the first-byte clock", () => {
  test("ends a stream that a provider took and does not begin: upstream_timeout", async () => {
    provider.answer(hang);
    const call = failureOf(callStream(timed()));
    await provider.called();
    clock.advance(clocks.firstByteMs);
    expect(await call).toMatchObject({ code: "upstream_timeout", message: "no first byte within 600000 ms" });
    expect((await provider.ended()).state).toBe("cancelled");
  });

  test("leaves a whole answer, which comes when it is complete, as long as a stream", async () => {
    provider.hold();
    provider.answer(chat("late"));
    const call = callWhole(timed());
    await provider.called();
    clock.advance(clocks.streamMs - 1);
    provider.release();
    expect(await call).toMatchObject({ message: { content: "late" } });
    provider.answer(hang);
    const late = failureOf(callWhole(timed()));
    await provider.called(2);
    clock.advance(clocks.streamMs);
    expect(await late).toMatchObject({ code: "upstream_timeout", message: "not done within 900000 ms" });
    expect((await provider.ended(2)).state).toBe("cancelled");
  });

  test("goes on after the head of a stream until its first byte", async () => {
    provider.answer(silent);
    const events = await callStream(timed());
    const event = events.next();
    clock.advance(clocks.firstByteMs - 1);
    clock.advance(1);
    expect(await event).toMatchObject({ kind: "failure", failure: { code: "upstream_timeout" } });
    expect(await events.next()).toBeNull();
    expect((await provider.ended()).state).toBe("cancelled");
  });

  test("is content with a comment", async () => {
    const manual = new ManualStream();
    const events = await opened(manual);
    const event = events.next();
    await manual.write(": PROCESSING\n\n");
    await manual.piece("late");
    expect(await event).toMatchObject({ kind: "delta" });
    clock.advance(clocks.firstByteMs);
    await manual.finish();
    expect((await readAll(events)).last).toBe("end");
  });
});

describe("the idle clock", () => {
  test("ends a stream that falls silent while somebody waits: upstream_timeout", async () => {
    const manual = new ManualStream();
    const events = await opened(manual);
    await manual.piece("one");
    await events.next();
    const event = events.next();
    clock.advance(clocks.idleMs);
    expect(await event).toMatchObject({
      kind: "failure",
      failure: { code: "upstream_timeout", message: "no next byte within 300000 ms" },
    });
    expect((await provider.ended()).state).toBe("cancelled");
  });

  test("begins anew with every byte", async () => {
    const manual = new ManualStream();
    const events = await opened(manual);
    for (const piece of ["one", "two", "three"]) {
      await manual.piece(piece);
      expect(await events.next()).toMatchObject({ delta: { content: piece } });
      clock.advance(clocks.idleMs - 1);
    }
  });

  test("pauses while no read is pending, as with a client that reads slowly", async () => {
    const manual = new ManualStream();
    const events = await opened(manual);
    await manual.piece("one");
    await events.next();
    clock.advance(clocks.idleMs + 1);
    await manual.piece("two");
    expect(await events.next()).toMatchObject({ kind: "delta", delta: { content: "two" } });
  });

  test("ends a whole answer that stops in the middle", async () => {
    provider.answer((response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.write('{"id":');
    });
    const call = failureOf(callWhole(timed()));
    await provider.called();
    // The first bytes may still be on their way: until they are there, the idle clock does not run.
    while (clock.monotonic() < 2 * clocks.idleMs) await clock.pass(10_000);
    expect(await call).toMatchObject({ code: "upstream_timeout", message: "no next byte within 300000 ms" });
  });
});

describe("the total clock", () => {
  test("ends a stream that is never silent after 900 s: upstream_timeout", async () => {
    const manual = new ManualStream();
    const events = await opened(manual);
    for (let at = 0; at < clocks.streamMs; at += 100_000) {
      await manual.piece("more");
      expect(await events.next()).toMatchObject({ kind: "delta" });
      clock.advance(100_000);
    }
    expect(await events.next()).toMatchObject({
      kind: "failure",
      failure: { code: "upstream_timeout", message: "not done within 900000 ms" },
    });
    expect((await provider.ended()).state).toBe("cancelled");
  });

  test("closes the provider's connection on time, even if no read is pending", async () => {
    const manual = new ManualStream();
    const events = await opened(manual);
    await manual.piece("one");
    await events.next();
    clock.advance(clocks.streamMs);
    expect((await provider.ended()).state).toBe("cancelled");
    expect(await events.next()).toMatchObject({ kind: "failure" });
  });

  test("counts from the start of the generation, so that a second try does not begin it anew", async () => {
    clock.advance(1_000_000);
    const manual = new ManualStream();
    provider.answer(manual.answer);
    const startedAt = clock.monotonic() - clocks.streamMs + 1_000;
    const events = await callStream(timed({ startedAt }));
    const event = events.next();
    clock.advance(1_000);
    expect(await event).toMatchObject({ kind: "failure", failure: { code: "upstream_timeout" } });
  });
});

test("an answer that is over leaves no timer behind", async () => {
  provider.answer(chat("Hello"));
  await callWhole(timed());
  expect(clock.pending).toBe(0);
  const events = await callStream(timed());
  await readAll(events);
  await provider.ended(2);
  await clock.pass(10_000);
  expect(clock.pending).toBe(0);
});

test("a failed call leaves no timer behind", async () => {
  provider.answer(hang);
  const call = failureOf(callWhole(timed()));
  await provider.called();
  clock.advance(clocks.streamMs);
  await call;
  expect(clock.pending).toBe(0);
});
