import { afterEach, expect, test } from "bun:test";
import { spawn, type ChildProcess } from "node:child_process";
import { getPriority, setPriority } from "node:os";
import { lowerPriority } from "../../src/process/lower-priority.ts";

let child: ChildProcess | null = null;
afterEach(() => child?.kill());

test("a process gets a lower priority, and keeps one that is lower still", () => {
  child = spawn("sleep", ["60"]);
  const pid = child.pid ?? 0;
  lowerPriority(pid, 10);
  expect(getPriority(pid)).toBeGreaterThanOrEqual(10);
  setPriority(pid, 19);
  lowerPriority(pid, 10);
  expect(getPriority(pid)).toBe(19);
});
