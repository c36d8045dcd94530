/** Tries to take the lock of a folder, prints the result, starts a command if there is one, and runs until it is killed. */
import { spawn } from "node:child_process";
import { LockedError, takeLock } from "../../../src/process/lock.ts";

const [folder = "", program, ...words] = process.argv.slice(2);
try {
  await takeLock(folder);
  const child = program === undefined ? null : spawn(program, words, { stdio: "ignore" });
  console.log(child === null ? "taken" : `taken ${child.pid}`);
} catch (error) {
  console.log(error instanceof LockedError ? `refused ${error.pid}` : `failed: ${String(error)}`);
}
process.stdin.resume();
