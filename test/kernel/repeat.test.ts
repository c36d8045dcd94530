import { expect, test } from "bun:test";
import { repeatUntilStopped, type Repetition } from "../../src/kernel/repeat.ts";
import { ManualClock, settled } from "../support/clock.ts";

const everyMs = 1_000;

/** A repetition on a manual clock whose rounds are counted. */
function started(settings: Partial<Repetition> = {}) {
  const clock = new ManualClock();
  const state = { rounds: 0, errors: [] as unknown[], wake: () => {}, listening: false };
  const wakeOn = (wake: () => void): Disposable => {
    Object.assign(state, { wake, listening: true });
    return { [Symbol.dispose]: () => void (state.listening = false) };
  };
  const repeated = repeatUntilStopped({
    clock,
    round: async () => void state.rounds++,
    everyMs,
    wakeOn,
    onError: (error) => void state.errors.push(error),
    ...settings,
  });
  return { clock, state, repeated };
}

test("the first round begins at once, and each further one after the pause", async () => {
  const { clock, state, repeated } = started();
  await using _repeated = repeated;
  await clock.pass(everyMs - 1);
  expect(state.rounds).toBe(1);
  await clock.pass(1);
  expect(state.rounds).toBe(2);
  await clock.pass(3 * everyMs);
  expect(state.rounds).toBe(5);
});

test("the first round waits for a pause where the repetition begins with one", async () => {
  const { clock, state, repeated } = started({ pauseFirst: true });
  await using _repeated = repeated;
  await clock.pass(everyMs - 1);
  expect(state.rounds).toBe(0);
  await clock.pass(1);
  expect(state.rounds).toBe(1);
});

test("a notification ends the pause", async () => {
  const { state, repeated } = started();
  await using _repeated = repeated;
  await settled();
  state.wake();
  await settled();
  expect(state.rounds).toBe(2);
});

test("any number of notifications during a round start one round after it", async () => {
  const held = Promise.withResolvers<void>();
  let rounds = 0;
  const { state, repeated } = started({ round: async () => (rounds++ === 0 ? held.promise : undefined) });
  await using _repeated = repeated;
  state.wake();
  state.wake();
  await settled();
  expect(rounds).toBe(1);
  held.resolve();
  await settled();
  expect(rounds).toBe(2);
});

test("a failed round is reported, and the next one follows after the usual pause", async () => {
  const failure = new Error("the database is away");
  const { clock, state, repeated } = started({ round: async () => Promise.reject(failure) });
  await using _repeated = repeated;
  await clock.pass(everyMs);
  expect(state.errors).toEqual([failure, failure]);
});

test("failed rounds are repeated after their own pauses, which no notification ends, until a round succeeds", async () => {
  let rounds = 0;
  let failing = true;
  const round = async () => {
    rounds++;
    if (failing) throw new Error("the server is away");
  };
  const { clock, state, repeated } = started({ round, retryMs: (failures) => failures * 100 });
  await using _repeated = repeated;
  await settled();
  state.wake();
  await clock.pass(99);
  expect(rounds).toBe(1);
  await clock.pass(1);
  expect(rounds).toBe(2);
  failing = false;
  await clock.pass(200);
  expect(rounds).toBe(3);
  await clock.pass(everyMs - 1);
  expect(rounds).toBe(3);
  failing = true;
  await clock.pass(1);
  await clock.pass(100);
  expect(rounds).toBe(5);
});

test("disposing ends the pause, the subscription and all timers", async () => {
  const { clock, state, repeated } = started();
  await settled();
  await repeated[Symbol.asyncDispose]();
  state.wake();
  await clock.pass(10 * everyMs);
  expect([state.rounds, state.listening, clock.pending]).toEqual([1, false, 0]);
});

test("disposing waits for the running round, whose signal is aborted", async () => {
  const held = Promise.withResolvers<void>();
  let aborted = false;
  const { clock, repeated } = started({
    async round(signal) {
      await held.promise;
      aborted = signal.aborted;
    },
  });
  let ended = false;
  const ending = repeated[Symbol.asyncDispose]().then(() => (ended = true));
  await settled();
  expect(ended).toBe(false);
  held.resolve();
  await ending;
  expect([aborted, clock.pending]).toEqual([true, 0]);
});

test("disposing ends a pause after a failed round", async () => {
  const { clock, repeated } = started({ round: async () => Promise.reject(new Error("away")), retryMs: () => 60_000 });
  await settled();
  await repeated[Symbol.asyncDispose]();
  expect(clock.pending).toBe(0);
});
