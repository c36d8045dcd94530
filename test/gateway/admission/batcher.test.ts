import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { BusTimeoutError, BusUnavailableError, type Reply } from "../../../src/backing/bus.ts";
import { admissionDeadlineMs, holdMs } from "../../../src/backing/limits.ts";
import { NoReplyError, RequestNotSentError, RequestBatcher } from "../../../src/gateway/admission/batcher.ts";
import { decodeRequests, encodeReplies, type AdmissionRequest } from "../../../src/gateway/admission/message.ts";
import {
  admissionBatchBytesMax,
  admissionBatchMax,
  admissionRequestsWaitingMax,
  releasesWaitingMax,
} from "../../../src/gateway/limits.ts";
import { ManualClock, settled } from "../../support/clock.ts";
import { failureOf } from "../../support/failure-of.ts";
import { admitRequest } from "../../support/gateway/admission-worker.ts";
import { ScriptedAdmission } from "../../support/gateway/scripted-admission.ts";
import { FakeBus } from "../../support/servers/fake-bus.ts";

const done = (payload: Uint8Array): Uint8Array =>
  encodeReplies({ now: 7, answers: decodeRequests(payload).asks.map(() => ({ kind: "done" })) });

function releaseOf(generation: string): AdmissionRequest {
  return { kind: "void", workspace: "ws-1", generation };
}

async function open() {
  const clock = new ManualClock();
  const bus = new FakeBus();
  const times: number[] = [];
  await bus.serve("admission", async (payload) => done(payload));
  return {
    clock,
    bus,
    times,
    batcher: new RequestBatcher({ bus, clock, onCountersTime: (now) => times.push(now), recordIntents: () => {} }),
  };
}

const requestsOf = (bus: FakeBus): AdmissionRequest[][] => bus.requests.map((payload) => decodeRequests(payload).asks);

describe("the batcher of a gateway's requests", () => {
  test("the batcher sends the requests of one turn of the event loop as one message", async () => {
    const { bus, batcher } = await open();
    const requests = Array.from({ length: 100 }, (_, number) => releaseOf(`gen-${number}`));
    const replies = await Promise.all(requests.map((request) => batcher.send(request)));
    expect(requestsOf(bus)).toEqual([requests]);
    expect(replies.every(({ reply }) => reply.kind === "done")).toBe(true);
    await batcher.send(releaseOf("gen-later"));
    expect(bus.requests.length).toBe(2);
  });

  test("a message holds at most 128 requests and 64 KiB, in order, for requests of any size and script", async () => {
    const letter = fc.constantFrom("a", "é", "漢", "🜁", '"', "\n");
    const text = fc.tuple(letter, fc.integer({ min: 1, max: 700 })).map(([one, times]) => one.repeat(times));
    await fc.assert(
      fc.asyncProperty(fc.array(text, { minLength: 1, maxLength: 400, size: "max" }), async (texts) => {
        const { bus, batcher } = await open();
        await Promise.all(texts.map((id) => batcher.send(releaseOf(id))));
        const messages = requestsOf(bus);
        expect(messages.flat()).toEqual(texts.map(releaseOf));
        for (const requests of messages) expect(requests.length).toBeLessThanOrEqual(admissionBatchMax);
        for (const { length } of bus.requests) expect(length).toBeLessThanOrEqual(admissionBatchBytesMax);
      }),
      { numRuns: 60, verbose: 1 },
    );
  }, 30_000);

  test("the batcher sends no more messages at a time than the workers take; further requests wait and are sent together", async () => {
    const { bus, batcher } = await open();
    bus.widthNow = 2;
    const arrived: (() => void)[] = [];
    bus.carry = async (deliver): Promise<Reply> => {
      await new Promise<void>((resolve) => arrived.push(resolve));
      return { payload: await deliver(), resent: false };
    };
    const all: Promise<unknown>[] = [];
    for (let turn = 0; turn < 10; turn++) {
      all.push(batcher.send(releaseOf(`gen-${turn}`)));
      await settled();
    }
    expect(bus.requests.length).toBe(2);
    while (arrived.length > 0) {
      arrived.shift()?.();
      await settled();
      await settled();
    }
    await Promise.all(all);
    expect(bus.inFlightMost).toBe(2);
    expect(requestsOf(bus).map((requests) => requests.length)).toEqual([1, 1, 8]);
  });

  test("look-ups of keys, which may wait for the database, delay no decision and take at most half of the slots", async () => {
    const { bus, batcher } = await open();
    bus.widthNow = 2;
    const stuck = Promise.withResolvers<void>();
    bus.carry = async (deliver): Promise<Reply> => {
      if (requestsOf(bus).at(-1)?.[0]?.kind === "authenticate") await stuck.promise;
      return { payload: await deliver(), resent: false };
    };
    const lookups = Array.from({ length: 10 }, () => batcher.send({ kind: "authenticate", hash: "a" }));
    await settled();
    const later = batcher.send({ kind: "authenticate", hash: "b" });
    for (let turn = 0; turn < 10; turn++) {
      const { reply } = await batcher.send(releaseOf(`gen-${turn}`));
      expect(reply.kind).toBe("done");
    }
    expect(requestsOf(bus).filter((requests) => requests[0]?.kind === "authenticate").length).toBe(1);
    stuck.resolve();
    await Promise.all([...lookups, later]);
  });

  test("look-ups of keys and requests with an idempotency key take turns, and together at most half of the slots", async () => {
    const { bus, batcher } = await open();
    bus.widthNow = 2;
    const stuck = Promise.withResolvers<void>();
    const isSlow = (requests?: AdmissionRequest[]): boolean => requests?.[0]?.kind !== "void";
    bus.carry = async (deliver): Promise<Reply> => {
      if (isSlow(requestsOf(bus).at(-1))) await stuck.promise;
      return { payload: await deliver(), resent: false };
    };
    const claim = { id: "claim-1", body: "body-1" };
    const keyed = admitRequest({ claim });
    const slow = [batcher.send(keyed)];
    await settled();
    for (let turn = 0; turn < 3; turn++) slow.push(batcher.send(keyed), batcher.send({ kind: "authenticate", hash: "a" }));
    for (let turn = 0; turn < 10; turn++) expect((await batcher.send(releaseOf(`gen-${turn}`))).reply.kind).toBe("done");
    expect(requestsOf(bus).filter(isSlow).length).toBe(1);
    stuck.resolve();
    await Promise.all(slow);
    const kinds = requestsOf(bus)
      .filter(isSlow)
      .map((requests) => requests.map(({ kind }) => kind));
    expect(kinds).toEqual([["admit"], Array(3).fill("authenticate"), Array(3).fill("admit")]);
  });

  test("look-ups of keys get their turn when decisions fill every slot", async () => {
    const { bus, batcher } = await open();
    bus.widthNow = 1;
    const first = batcher.send(releaseOf("gen-0"));
    await settled();
    const replied: string[] = [];
    const record = (kind: string) => () => void replied.push(kind);
    const decisions = [1, 2, 3].map((n) => batcher.send(releaseOf(`gen-${n}`)).then(record("decision")));
    const lookup = batcher.send({ kind: "authenticate", hash: "a" }).then(record("look-up"));
    await Promise.all([first, lookup, ...decisions]);
    expect(replied[0]).toBe("look-up");
  });

  test("the batcher distinguishes requests that no worker received from those without a reply", async () => {
    const { bus, batcher } = await open();
    const failures: [unknown, typeof RequestNotSentError | typeof NoReplyError][] = [
      [new BusUnavailableError("no worker"), RequestNotSentError],
      [new BusTimeoutError("no reply"), NoReplyError],
      [new Error("the connection broke"), NoReplyError],
    ];
    for (const [failure, kind] of failures) {
      bus.carry = async () => {
        throw failure;
      };
      expect(await failureOf(batcher.send(releaseOf("gen-1")))).toBeInstanceOf(kind);
    }
  });

  test("the batcher drops a reply that is read more than 2 seconds after its request, as after a freeze", async () => {
    const { bus, clock, times, batcher } = await open();
    let frozenMs = admissionDeadlineMs;
    bus.carry = async (deliver): Promise<Reply> => {
      const payload = await deliver();
      await clock.advance(frozenMs);
      return { payload, resent: false };
    };
    expect((await batcher.send(releaseOf("gen-a"))).reply.kind).toBe("done");
    frozenMs = admissionDeadlineMs + 1;
    expect(await failureOf(batcher.send(releaseOf("gen-b")))).toBeInstanceOf(NoReplyError);
    expect(times.length).toBe(1);
  });

  test("the batcher rejects requests when replies are missing or unreadable", async () => {
    const { bus, batcher } = await open();
    bus.carry = async () => ({ payload: encodeReplies({ now: null, answers: [{ kind: "done" }] }), resent: false });
    const [first, second] = await Promise.all([batcher.send(releaseOf("a")), failureOf(batcher.send(releaseOf("b")))]);
    expect(first.reply.kind).toBe("done");
    expect(second).toBeInstanceOf(NoReplyError);
    bus.carry = async () => ({ payload: new TextEncoder().encode("{"), resent: false });
    expect(await failureOf(batcher.send(releaseOf("c")))).toBeInstanceOf(NoReplyError);
  });

  test("a reply shows whether two workers may have acted, and the counters' time if it is known", async () => {
    const { bus, batcher, times } = await open();
    bus.carry = async (deliver) => ({ payload: await deliver(), resent: true });
    expect(await batcher.send(releaseOf("a"))).toEqual({ reply: { kind: "done" }, resent: true, now: 7 });
    bus.carry = async () => ({ payload: encodeReplies({ now: null, answers: [{ kind: "done" }] }), resent: false });
    expect((await batcher.send(releaseOf("b"))).now).toBeNull();
    expect(times).toEqual([7]);
  });

  test("the batcher rejects a request at once when its queue is full", async () => {
    const { bus, batcher } = await open();
    bus.widthNow = 0;
    const waiting = Array.from({ length: admissionRequestsWaitingMax }, () => failureOf(batcher.send(releaseOf("a"))));
    expect(await failureOf(batcher.send(releaseOf("b")))).toBeInstanceOf(RequestNotSentError);
    expect(bus.requests.length).toBe(0);
    expect(waiting.length).toBe(20_000);
  });

  test("a request waits for at most 2 seconds and is then not sent", async () => {
    const { bus, clock, batcher } = await open();
    bus.widthNow = 0;
    const early = failureOf(batcher.send(releaseOf("early")));
    await clock.pass(1_999);
    const late = batcher.send(releaseOf("late"));
    await clock.pass(1);
    bus.widthNow = 1;
    await batcher.send(releaseOf("last"));
    expect(await early).toBeInstanceOf(RequestNotSentError);
    await late;
    expect(requestsOf(bus)).toEqual([[releaseOf("late"), releaseOf("last")]]);
  });
});

describe("generations whose admission has an unknown outcome", () => {
  test("they are released even if no worker can be reached for a while", async () => {
    const admission = new ScriptedAdmission();
    const { carry } = admission.bus;
    admission.bus.carry = () => Promise.reject(new BusUnavailableError("no worker"));
    for (let number = 0; number < 300; number++) admission.client.releases.add("ws-1", `gen-${number}`);
    await admission.clock.pass(60_000);
    expect(admission.client.releases.size).toBe(300);
    admission.bus.carry = carry;
    await admission.clock.pass(2_000);
    expect(admission.client.releases.size).toBe(0);
    expect(new Set(admission.received("void").map((request) => request.generation)).size).toBe(300);
    expect(admission.clock.pending).toBe(0);
  });

  test("they are released whenever they are added, also in the tick in which the last release ends", async () => {
    const admission = new ScriptedAdmission();
    const { releases } = admission.client;
    let added = 0;
    const addInTheFirstIdleTick = async () => {
      for (let tick = 0; tick < 40; tick++) {
        await Promise.resolve();
        if (releases.size === 0) return releases.add("ws-1", `gen-${++added}`);
      }
    };
    admission.release = () => {
      if (added < 10) void addInTheFirstIdleTick();
      return { kind: "done" };
    };
    releases.add("ws-1", "gen-0");
    for (let turn = 0; turn < 20; turn++) await settled();
    expect(releases.size).toBe(0);
    expect(admission.received("void").length).toBe(11);
  });

  test("they are left to the sweeper once their hold has ended, and when there are too many", async () => {
    const admission = new ScriptedAdmission();
    admission.release = () => ({ kind: "refused", code: "billing_unavailable" });
    for (let number = 0; number < releasesWaitingMax + 5; number++) admission.client.releases.add("ws-1", `gen-${number}`);
    expect(admission.client.releases.size).toBe(releasesWaitingMax);
    const few = new ScriptedAdmission();
    few.release = () => ({ kind: "refused", code: "billing_unavailable" });
    few.client.releases.add("ws-1", "gen-1");
    await few.clock.pass(holdMs + 1_000);
    expect(few.client.releases.size).toBe(0);
  });
});
