import { expect, test } from "bun:test";
import { MovingDeadline } from "../../src/providers/deadline.ts";
import { ManualClock } from "../support/clock.ts";

function deadline() {
  const clock = new ManualClock();
  let passed = 0;
  return { clock, moving: new MovingDeadline(clock, () => passed++), passed: () => passed };
}

test("passes at its time and once", () => {
  const { clock, moving, passed } = deadline();
  moving.move(100);
  clock.advance(99);
  expect(passed()).toBe(0);
  clock.advance(1);
  expect(passed()).toBe(1);
  clock.advance(10_000);
  expect(passed()).toBe(1);
});

test("moved on, it does not pass at its old time", () => {
  const { clock, moving, passed } = deadline();
  moving.move(100);
  clock.advance(90);
  moving.move(200);
  clock.advance(109);
  expect(passed()).toBe(0);
  clock.advance(1);
  expect(passed()).toBe(1);
});

test("moved nearer, it passes at the nearer time", () => {
  const { clock, moving, passed } = deadline();
  moving.move(1_000);
  moving.move(10);
  clock.advance(10);
  expect(passed()).toBe(1);
});

test("takes one timer, however often it is moved on", () => {
  const { clock, moving } = deadline();
  for (let at = 100; at < 1_000; at++) moving.move(at);
  expect(clock.pending).toBe(1);
});

test("disposed, it never passes and leaves no timer", () => {
  const { clock, moving, passed } = deadline();
  moving.move(100);
  moving[Symbol.dispose]();
  moving.move(50);
  expect(clock.pending).toBe(0);
  clock.advance(1_000);
  expect(passed()).toBe(0);
});
