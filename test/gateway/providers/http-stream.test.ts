import { afterAll, beforeEach, describe, expect, spyOn, test } from "bun:test";
import { Network } from "../../../src/gateway/providers/transport/network.ts";
import { StopSignal } from "../../../src/kernel/clock.ts";
import { callStream, callWhole, failureOf, readAll } from "../../support/providers/call.ts";
import { aRoute } from "../../support/providers/models.ts";
import { startProviderStub } from "../../support/providers/provider-stub.ts";
import { chat, chunk, hang, ManualStream, rawStream, silent, stream } from "../../support/providers/stub-answers.ts";
import { until } from "../../support/until.ts";

let provider = await startProviderStub();
let route = aRoute({ base_url: provider.url });
beforeEach(async () => {
  await provider[Symbol.asyncDispose]();
  provider = await startProviderStub();
  route = aRoute({ base_url: provider.url });
});
afterAll(() => provider[Symbol.asyncDispose]());

describe("a stream", () => {
  test("that ends without a finish reason and without [DONE] counts as broken off", async () => {
    provider.answer(stream([chunk({ content: "Hi" })], { end: "no done" }));
    const transcript = await readAll(await callStream({ route }));
    expect(transcript.text).toBe("Hi");
    expect(transcript.failure).toMatchObject({ code: "upstream_error", message: "the stream broke off" });
  });

  test("whose connection breaks is upstream_error after what was received", async () => {
    const manual = new ManualStream();
    provider.answer(manual.answer);
    const events = await callStream({ route });
    await manual.piece("Hi");
    expect(await events.next()).toMatchObject({ kind: "delta", delta: { content: "Hi" } });
    await manual.break();
    const transcript = await readAll(events);
    expect(transcript.failure?.code).toBe("upstream_error");
  });

  test("that is empty is upstream_error", async () => {
    provider.answer(rawStream());
    expect((await readAll(await callStream({ route }))).failure?.code).toBe("upstream_error");
  });

  test("with an event above the size limit is upstream_error, and its connection is closed", async () => {
    provider.answer(async (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write("data: ");
      const more = () => void (response.destroyed || response.write("x".repeat(1_000_000), more));
      more();
    });
    expect((await readAll(await callStream({ route }))).failure?.code).toBe("upstream_error");
    expect((await provider.ended()).state).toBe("cancelled");
  });

  test("delivers an event as soon as it arrives", async () => {
    const manual = new ManualStream();
    provider.answer(manual.answer);
    const events = await callStream({ route });
    await manual.piece("one");
    expect(await events.next()).toMatchObject({ kind: "delta", delta: { content: "one" } });
    await manual.piece("two");
    expect(await events.next()).toMatchObject({ kind: "delta", delta: { content: "two" } });
    await manual.finish();
    expect((await readAll(events)).last).toBe("end");
  });

  test("that is cancelled closes its connection and delivers nothing more", async () => {
    const manual = new ManualStream();
    provider.answer(manual.answer);
    const events = await callStream({ route });
    await manual.piece("one");
    await events.next();
    await events.cancel();
    expect(await events.next()).toBeNull();
    expect((await provider.ended()).state).toBe("cancelled");
  });

  test("that is cancelled ends a pending wait for an event", async () => {
    provider.answer(silent);
    const events = await callStream({ route });
    const waiting = events.next();
    await events.cancel();
    expect(await waiting).toBeNull();
    expect((await provider.ended()).state).toBe("cancelled");
  });

  test("leaves its connection for the next call", async () => {
    const ports: (number | undefined)[] = [];
    provider.answer((response, call) => {
      ports.push(response.socket?.remotePort);
      return chat("Hello there", { gapMs: 1 })(response, call);
    });
    using freed = spyOn(Network.prototype, "free");
    for (let call = 0; call < 3; call++) {
      await readAll(await callStream({ route }));
      // The end of the body may arrive after the last event: until then the connection is not free.
      await until(() => freed.mock.calls.length === call + 1);
    }
    expect(new Set(ports).size).toBe(1);
  });

  test("whose connection stays open after [DONE] has ended, and the connection is closed", async () => {
    provider.answer(async (response, call) => {
      await stream([chunk({ content: "Hi" }), chunk({}, "stop")], { end: "open" })(response, call);
      response.write("data: [DONE]\n\n");
    });
    expect((await readAll(await callStream({ route }))).last).toBe("end");
    expect((await provider.ended()).state).toBe("cancelled");
  });

  test("that is open no longer references the callback for the sent request", async () => {
    provider.answer(stream([chunk({ content: "Hi" })], { end: "open" }));
    const open = async () => {
      const request = { isSent: false };
      const events = await callStream({ route, context: { onSent: () => void (request.isSent = true) } });
      return { events, request: new WeakRef(request) };
    };
    const streams = await Promise.all(Array.from({ length: 10 }, open));
    // One may still be in a register: garbage collection is not exact.
    await until(() => {
      Bun.gc(true);
      return streams.filter(({ request }) => request.deref() !== undefined).length <= 1;
    });
    await Promise.all(streams.map(({ events }) => events.cancel()));
  });
});

describe("an aborted call", () => {
  test("ends before its answer, and the provider sees the connection close", async () => {
    provider.answer(hang);
    const givenUp = new StopSignal();
    const call = failureOf(callWhole({ route, context: { givenUp } }));
    await provider.called();
    givenUp.stop();
    expect((await call).code).toBe("upstream_error");
    expect((await provider.ended()).state).toBe("cancelled");
  });

  test("is not sent if it was aborted before", async () => {
    const givenUp = new StopSignal();
    givenUp.stop();
    const failure = await failureOf(callWhole({ route, context: { givenUp } }));
    expect(failure.code).toBe("upstream_error");
    expect(provider.calls).toHaveLength(0);
  });

  test("leaves an open stream running, which its own cancel ends", async () => {
    const givenUp = new StopSignal();
    const manual = new ManualStream();
    provider.answer(manual.answer);
    const events = await callStream({ route, context: { givenUp } });
    givenUp.stop();
    await manual.piece("still here");
    await manual.finish();
    expect(await readAll(events)).toMatchObject({ text: "still here", last: "end" });
  });
});
