import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { BusTimeoutError, BusUnavailableError, type Reply } from "../../../../src/backing/bus.ts";
import { decodeRequests, encodeReplies } from "../../../../src/gateway/admission/codec.ts";
import type { AdmissionRequest } from "../../../../src/gateway/admission/message.ts";
import { NoReplyError, RequestNotSentError, RequestBatcher } from "../../../../src/gateway/admission/client/request-batcher.ts";
import { admissionDeadlineMs } from "../../../../src/backing/limits.ts";
import { admissionBatchBytesMax, admissionBatchMax, admissionRequestsWaitingMax } from "../../../../src/gateway/limits.ts";
import { ManualClock, settled } from "../../../support/clock.ts";
import { FakeBus } from "../../../support/fake-bus.ts";
import { failureOf } from "../../../support/failure-of.ts";

const done = (payload: Uint8Array): Uint8Array =>
  encodeReplies({ now: 7, answers: decodeRequests(payload).asks.map(() => ({ kind: "done" })) });

function giveUp(generation: string): AdmissionRequest {
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
    questions: new RequestBatcher({ bus, clock, onCountersTime: (now) => times.push(now), recordIntents: () => {} }),
  };
}

const asksOf = (bus: FakeBus): AdmissionRequest[][] => bus.requests.map((payload) => decodeRequests(payload).asks);

describe("questions of a front", () => {
  test("that are asked in one turn of the event loop travel as one message", async () => {
    const { bus, questions } = await open();
    const asks = Array.from({ length: 100 }, (_, number) => giveUp(`gen-${number}`));
    const told = await Promise.all(asks.map((ask) => questions.send(ask)));
    expect(asksOf(bus)).toEqual([asks]);
    expect(told.every(({ reply: answer }) => answer.kind === "done")).toBe(true);
    await questions.send(giveUp("gen-later"));
    expect(bus.requests.length).toBe(2);
  });

  test("are at most 128 and 64 KiB a message, in the order of asking, whatever their size and script", async () => {
    const letter = fc.constantFrom("a", "é", "漢", "🜁", '"', "\n");
    const text = fc.tuple(letter, fc.integer({ min: 1, max: 700 })).map(([one, times]) => one.repeat(times));
    await fc.assert(
      fc.asyncProperty(fc.array(text, { minLength: 1, maxLength: 400, size: "max" }), async (texts) => {
        const { bus, questions } = await open();
        await Promise.all(texts.map((id) => questions.send(giveUp(id))));
        const messages = asksOf(bus);
        expect(messages.flat()).toEqual(texts.map(giveUp));
        for (const asks of messages) expect(asks.length).toBeLessThanOrEqual(admissionBatchMax);
        for (const { length } of bus.requests) expect(length).toBeLessThanOrEqual(admissionBatchBytesMax);
      }),
      { numRuns: 60, verbose: 1 },
    );
  }, 30_000);

  test("are never under way in more messages than the workers take; the rest waits and travels together", async () => {
    const { bus, questions } = await open();
    bus.widthNow = 2;
    const arrived: (() => void)[] = [];
    bus.carry = async (deliver): Promise<Reply> => {
      await new Promise<void>((resolve) => arrived.push(resolve));
      return { payload: await deliver(), resent: false };
    };
    const all: Promise<unknown>[] = [];
    for (let turn = 0; turn < 10; turn++) {
      all.push(questions.send(giveUp(`gen-${turn}`)));
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
    expect(asksOf(bus).map((asks) => asks.length)).toEqual([1, 1, 8]);
  });

  test("about keys, which may wait for the database, hold no decision up and take half of the places at most", async () => {
    const { bus, questions } = await open();
    bus.widthNow = 2;
    const stuck = Promise.withResolvers<void>();
    bus.carry = async (deliver): Promise<Reply> => {
      if (asksOf(bus).at(-1)?.[0]?.kind === "authenticate") await stuck.promise;
      return { payload: await deliver(), resent: false };
    };
    const lookups = Array.from({ length: 10 }, () => questions.send({ kind: "authenticate", hash: "a" }));
    await settled();
    const later = questions.send({ kind: "authenticate", hash: "b" });
    for (let turn = 0; turn < 10; turn++) {
      const { reply: answer } = await questions.send(giveUp(`gen-${turn}`));
      expect(answer.kind).toBe("done");
    }
    expect(asksOf(bus).filter((asks) => asks[0]?.kind === "authenticate").length).toBe(1);
    stuck.resolve();
    await Promise.all([...lookups, later]);
  });

  test("about keys have their turn where decisions take every place", async () => {
    const { bus, questions } = await open();
    bus.widthNow = 1;
    const first = questions.send(giveUp("gen-0"));
    await settled();
    const answered: string[] = [];
    const note = (what: string) => () => void answered.push(what);
    const decisions = [1, 2, 3].map((n) => questions.send(giveUp(`gen-${n}`)).then(note("decision")));
    const lookup = questions.send({ kind: "authenticate", hash: "a" }).then(note("look-up"));
    await Promise.all([first, lookup, ...decisions]);
    expect(answered[0]).toBe("look-up");
  });

  test("that nobody received were certainly not acted on, and those without an answer may have been", async () => {
    const { bus, questions } = await open();
    const failures: [unknown, typeof RequestNotSentError | typeof NoReplyError][] = [
      [new BusUnavailableError("nobody there"), RequestNotSentError],
      [new BusTimeoutError("no answer"), NoReplyError],
      [new Error("the connection broke"), NoReplyError],
    ];
    for (const [failure, kind] of failures) {
      bus.carry = async () => {
        throw failure;
      };
      expect(await failureOf(questions.send(giveUp("gen-1")))).toBeInstanceOf(kind);
    }
  });

  test("whose answer is read more than 2 seconds later, as by a process that was frozen, have none: the decision is of then", async () => {
    const { bus, clock, times, questions } = await open();
    let frozenMs = admissionDeadlineMs;
    bus.carry = async (deliver): Promise<Reply> => {
      const payload = await deliver();
      await clock.advance(frozenMs);
      return { payload, resent: false };
    };
    expect((await questions.send(giveUp("gen-a"))).reply.kind).toBe("done");
    frozenMs = admissionDeadlineMs + 1;
    expect(await failureOf(questions.send(giveUp("gen-b")))).toBeInstanceOf(NoReplyError);
    expect(times.length).toBe(1);
  });

  test("with fewer answers than questions, or an answer nobody can read, have no answer", async () => {
    const { bus, questions } = await open();
    bus.carry = async () => ({ payload: encodeReplies({ now: null, answers: [{ kind: "done" }] }), resent: false });
    const [first, second] = await Promise.all([questions.send(giveUp("a")), failureOf(questions.send(giveUp("b")))]);
    expect(first.reply.kind).toBe("done");
    expect(second).toBeInstanceOf(NoReplyError);
    bus.carry = async () => ({ payload: new TextEncoder().encode("{"), resent: false });
    expect(await failureOf(questions.send(giveUp("c")))).toBeInstanceOf(NoReplyError);
  });

  test("tell whether two workers may have acted, and the counters' clock where it is known", async () => {
    const { bus, questions, times } = await open();
    bus.carry = async (deliver) => ({ payload: await deliver(), resent: true });
    expect(await questions.send(giveUp("a"))).toEqual({ reply: { kind: "done" }, resent: true, now: 7 });
    bus.carry = async () => ({ payload: encodeReplies({ now: null, answers: [{ kind: "done" }] }), resent: false });
    expect((await questions.send(giveUp("b"))).now).toBeNull();
    expect(times).toEqual([7]);
  });

  test("wait in a line that ends: beyond it one is refused at once, for certain not asked", async () => {
    const { bus, questions } = await open();
    bus.widthNow = 0;
    const waiting = Array.from({ length: admissionRequestsWaitingMax }, () => failureOf(questions.send(giveUp("a"))));
    expect(await failureOf(questions.send(giveUp("b")))).toBeInstanceOf(RequestNotSentError);
    expect(bus.requests.length).toBe(0);
    expect(waiting.length).toBe(20_000);
  });

  test("wait for 2 seconds at most: a turn that comes later is not taken", async () => {
    const { bus, clock, questions } = await open();
    bus.widthNow = 0;
    const early = failureOf(questions.send(giveUp("early")));
    await clock.pass(1_999);
    const late = questions.send(giveUp("late"));
    await clock.pass(1);
    bus.widthNow = 1;
    await questions.send(giveUp("last"));
    expect(await early).toBeInstanceOf(RequestNotSentError);
    await late;
    expect(asksOf(bus)).toEqual([[giveUp("late"), giveUp("last")]]);
  });
});
