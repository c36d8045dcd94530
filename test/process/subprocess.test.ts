import { spawn, type ChildProcess } from "node:child_process";
import { constants, getPriority, setPriority } from "node:os";
import { join } from "node:path";
import { expect, test, afterEach } from "bun:test";
import { spawnSubprocess, lowerPriority } from "../../src/process/subprocess.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

test("a subprocess has low priority before it gets its input, and keeps it", async () => {
  await using folder = await temporaryFolder();
  const program = join(folder.path, "program.ts");
  // On a busy machine it may start before its parent goes on, so it waits for its input, as the programs of the service do.
  await Bun.write(program, 'await Bun.stdin.text(); process.stdout.write(String((await import("node:os")).getPriority()));');
  const child = spawnSubprocess(program, "pipe");
  expect(getPriority(child.pid)).toBe(constants.priority.PRIORITY_LOW);
  child.stdin.end();
  expect(String(await Array.fromAsync(child.stdout))).toBe(String(constants.priority.PRIORITY_LOW));
});

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
