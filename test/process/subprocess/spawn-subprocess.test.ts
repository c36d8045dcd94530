import { expect, test } from "bun:test";
import { constants, getPriority } from "node:os";
import { join } from "node:path";
import { spawnSubprocess } from "../../../src/process/subprocess/spawn-subprocess.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

test("a subprocess has low priority before it begins to run, and keeps it", async () => {
  await using folder = await temporaryFolder();
  const program = join(folder.path, "program.ts");
  await Bun.write(program, 'process.stdout.write(String((await import("node:os")).getPriority()));');
  const child = spawnSubprocess(program, "pipe");
  expect(getPriority(child.pid)).toBe(constants.priority.PRIORITY_LOW);
  child.stdin.end();
  expect(String(await Array.fromAsync(child.stdout))).toBe(String(constants.priority.PRIORITY_LOW));
});
