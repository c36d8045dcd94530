/** Bodies before turns, workspaces before people: what slow bodies and many accounts of one workspace take from others. */
import { describe, expect, test } from "bun:test";
import { bodyGivesWayMs } from "../../../src/accounts/limits.ts";
import { BodyDoor } from "../../../src/accounts/quotas/body-door.ts";
import { memberLane, networkLane, operatorLane, type Lane } from "../../../src/accounts/quotas/lane.ts";
import { Turns, type Turn } from "../../../src/accounts/quotas/fair-semaphore.ts";
import { bodyBytesPerSecondMin, bodyGraceMs } from "../../../src/http/limits.ts";
import { ManualClock, settled } from "../../support/clock.ts";
import { failureOf } from "../../support/failure-of.ts";

const errors = {
  encoded: () => new Error("encoded"),
  incomplete: () => new Error("incomplete"),
  tooSlow: () => new Error("too slow"),
  tooLarge: () => new Error("too large"),
};

function open(limits: { all?: number; perWorkspace?: number; perPerson?: number; waiting?: number } = {}) {
  const { all = 4, perWorkspace = 2, perPerson = 1, waiting = 20 } = limits;
  const clock = new ManualClock();
  const room = { waitingMax: waiting, waitingPerHolderMax: 20, waitMs: 60_000 };
  const bounds = { runningMax: all, runningPerGroupMax: perWorkspace, runningPerHolderMax: perPerson, ...room };
  const door = new BodyDoor({ clock, limits: bounds, busy: "Busy" });
  const receive = (lane: Lane, body: string | ReadableStream, withinMs = 60_000) =>
    door.receive(new Request("http://weir/", { method: "POST", body }), lane, { bytesMax: 1024 * 1024, withinMs, errors });
  /** A body of which the test sends the bytes. */
  const begin = (lane: Lane, withinMs?: number) => {
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const writer = writable.getWriter();
    const received = receive(lane, readable, withinMs);
    let state = "open";
    received.then(
      () => (state = "whole"),
      (error: unknown) => (state = error instanceof Error ? error.message : ""),
    );
    return {
      received,
      state: () => state,
      send: (bytes: number) => writer.write(new Uint8Array(bytes)).catch(() => {}),
      end: () => writer.close().catch(() => {}),
    };
  };
  return { clock, receive, begin };
}

describe("a body", () => {
  test("that stays below the least rate is ended after a grace, and one at that rate is read however long it takes", async () => {
    const { clock, begin } = open();
    const [slow, steady] = [begin(memberLane("a@a", "a")), begin(memberLane("b@b", "b"))];
    for (let second = 0; second < bodyGraceMs / 1_000; second++) {
      expect([slow.state(), steady.state()]).toEqual(["open", "open"]);
      void slow.send(1);
      void steady.send(bodyBytesPerSecondMin);
      await clock.pass(1_000);
    }
    await clock.pass(1);
    expect([slow.state(), steady.state()]).toEqual(["too slow", "open"]);
    for (let second = 0; second < 20; second++) {
      void steady.send(bodyBytesPerSecondMin);
      await clock.pass(1_000);
    }
    void steady.end();
    expect((await steady.received).bytes).toHaveLength(25 * bodyBytesPerSecondMin);
    expect(clock.pending).toBe(0);
  });

  test("earns no time in advance: bytes that came early do not pay for a pause", async () => {
    const { clock, begin } = open();
    const body = begin(memberLane("a@a", "a"));
    void body.send(100 * bodyBytesPerSecondMin);
    await clock.pass(bodyGraceMs + 1);
    expect(body.state()).toBe("too slow");
  });
});

describe("slow bodies of one workspace", () => {
  test("take its places only: a body of another workspace is read at once", async () => {
    const { receive, begin } = open();
    for (let person = 0; person < 20; person++) begin(memberLane(`${person}@a`, "a"));
    await settled();
    expect((await receive(memberLane("b@b", "b"), "body")).bytes).toHaveLength(4);
  });

  test("give way to its own people, who find no place", async () => {
    const { clock, receive, begin } = open();
    const slow = [begin(memberLane("1@a", "a")), begin(memberLane("2@a", "a"))];
    const other = begin(memberLane("b@b", "b"));
    await clock.pass(bodyGivesWayMs);
    const body = receive(memberLane("3@a", "a"), "body");
    await settled();
    expect((await body).bytes).toHaveLength(4);
    expect([...slow, other].map(({ state }) => state()).toSorted()).toEqual(["open", "open", "too slow"]);
    expect(other.state()).toBe("open");
  });
});

describe("bodies that keep up", () => {
  test("of two workspaces leave the last place to a third one, which is read at once", async () => {
    const { clock, receive, begin } = open({ all: 4, perWorkspace: 2 });
    const others = ["a", "b"].flatMap((workspace) =>
      [1, 2].map((person) => begin(memberLane(`${person}@${workspace}`, workspace))),
    );
    const keepUp = async () => {
      for (const body of others) void body.send(Math.ceil(bodyBytesPerSecondMin / 10));
      await clock.pass(100);
    };
    for (let tenth = 0; tenth < 10; tenth++) await keepUp();
    const body = receive(memberLane("c@c", "c"), "body");
    for (let tenth = 0; tenth < 200; tenth++) await keepUp();
    expect(await Promise.race([body, settled()])).toMatchObject({ bytes: new TextEncoder().encode("body") });
  });

  test("of one workspace have all its places while nobody else has one", async () => {
    const { receive, begin } = open({ all: 4, perWorkspace: 2 });
    begin(memberLane("1@a", "a"));
    const second = receive(memberLane("2@a", "a"), "body");
    await settled();
    expect(await Promise.race([second, settled()])).toMatchObject({ bytes: new TextEncoder().encode("body") });
  });
});

describe("when every place is taken", () => {
  test("the body that is furthest behind, of the busiest network, is ended, and the newcomer is read", async () => {
    const { clock, receive, begin } = open({ all: 4, perWorkspace: 3, perPerson: 3 });
    const [one, two] = [networkLane("192.0.2.1"), networkLane("192.0.2.2")];
    const oldest = begin(two);
    await clock.pass(bodyGivesWayMs);
    const busiest = [begin(one), begin(one)];
    const last = begin(networkLane("192.0.2.3"));
    await clock.pass(bodyGivesWayMs);
    void busiest[0]?.send(bodyBytesPerSecondMin);
    await settled();
    const body = receive(networkLane("192.0.2.4"), "event");
    await settled();
    expect((await body).bytes).toHaveLength(5);
    expect([oldest, ...busiest, last].map(({ state }) => state())).toEqual(["open", "open", "too slow", "open"]);
  });

  test("a body that keeps up is not ended, and whoever waits gets the next place", async () => {
    const { clock, receive, begin } = open({ all: 1 });
    const large = begin(memberLane("a@a", "a"));
    const waiting = receive(memberLane("b@b", "b"), "body");
    for (let second = 0; second < 4; second++) {
      for (let part = 0; part < 10; part++) {
        void large.send(bodyBytesPerSecondMin);
        await clock.pass(100);
      }
    }
    expect(large.state()).toBe("open");
    void large.end();
    const body = await large.received;
    expect(await Promise.race([waiting, settled()])).toBeUndefined();
    body[Symbol.dispose]();
    expect((await waiting).bytes).toHaveLength(4);
  });

  test("the operator's body is read", async () => {
    const { receive, begin } = open({ all: 1 });
    begin(memberLane("a@a", "a"));
    await settled();
    expect((await receive(operatorLane, "body")).bytes).toHaveLength(4);
  });

  test("a workspace that fills the waiting room gives way to another one", async () => {
    const { begin, clock } = open({ all: 1, waiting: 3 });
    begin(memberLane("0@a", "a"));
    await settled();
    const waiting = [begin(memberLane("1@a", "a")), begin(memberLane("2@a", "a")), begin(memberLane("3@a", "a"))];
    const other = begin(memberLane("b@b", "b"));
    await settled();
    expect([...waiting, other].map(({ state }) => state())).toEqual(["open", "open", "Busy", "open"]);
    expect(await failureOf(begin(memberLane("4@a", "a")).received)).toMatchObject({ status: 503 });
    await clock.pass(0);
  });
});

test("a stranger's body that gets no place is dropped, so that nothing of it is held while it is refused", async () => {
  const room = { runningMax: 1, runningPerHolderMax: 1, waitingMax: 0, waitingPerHolderMax: 1, waitMs: 1_000 };
  const door = new BodyDoor({ clock: new ManualClock(), limits: room, busy: "Busy", dropsRefused: true });
  let dropped = 0;
  const post = () => {
    const body = new ReadableStream<Uint8Array>({ pull: () => new Promise(() => {}), cancel: () => void dropped++ });
    const request = new Request("http://weir/", { method: "POST", body });
    return door.receive(request, networkLane("192.0.2.1"), { bytesMax: 1_024, withinMs: 10_000, errors });
  };
  void post();
  await settled();
  expect(await failureOf(post())).toMatchObject({ status: 503 });
  await settled();
  expect(dropped).toBe(1);
});

describe("turns", () => {
  const limits = {
    runningMax: 2,
    runningPerGroupMax: 1,
    runningPerHolderMax: 1,
    waitingMax: 100,
    waitingPerHolderMax: 9,
    waitMs: 5_000,
  };
  const opened = () => new Turns({ clock: new ManualClock(), limits, busy: "Busy" });

  test("16 accounts of one workspace keep nobody of another one from a turn, nor the operator", async () => {
    const turns = opened();
    for (let person = 0; person < 16; person++) void turns.take(memberLane(`${person}@a`, "a"));
    const others = [turns.take(memberLane("b@b", "b")), turns.take(operatorLane)];
    expect(await Promise.all(others)).toHaveLength(2);
  });

  test("go round by workspace, then by person", async () => {
    const turns = new Turns({ clock: new ManualClock(), limits: { ...limits, runningMax: 1 }, busy: "Busy" });
    const order: string[] = [];
    let last: Turn | null = null;
    const take = (name: string, workspace: string): void =>
      void turns.take(memberLane(name, workspace)).then((turn) => {
        order.push(name);
        last = turn;
      });
    for (const name of ["a1", "a1", "a1", "a2", "a3"]) take(name, "a");
    for (const name of ["b1", "b1"]) take(name, "b");
    take("c1", "c");
    for (let count = 0; count < 8; count++) {
      await settled();
      (last as Turn | null)?.[Symbol.dispose]();
    }
    expect(order).toEqual(["a1", "a1", "b1", "c1", "a2", "b1", "a3", "a1"]);
  });

  test("last until their work has ended, also if nobody waits for it any more", async () => {
    const turns = opened();
    const work = Promise.withResolvers<null>();
    {
      using turn = await turns.take(memberLane("a@a", "a"));
      void turn.keepFor(work.promise);
    }
    expect(turns.blockedBy(memberLane("other@a", "a"))).toBe("group");
    work.resolve(null);
    await settled();
    expect(turns.blockedBy(memberLane("other@a", "a"))).toBeNull();
  });
});
