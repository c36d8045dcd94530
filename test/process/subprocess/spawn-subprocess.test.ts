import { expect, test } from "bun:test";
import { constants, getPriority } from "node:os";
import { join } from "node:path";
import { spawnSubprocess } from "../../../src/process/subprocess/spawn-subprocess.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

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
