/** Tries to take the lock of a folder, prints the result, and runs until it is killed. */
import { takeLock } from "../../../src/process/lock.ts";
import { LockedError } from "../../../src/process/lock-owner.ts";

const folder = process.argv[2] ?? "";
try {
  await takeLock(folder);
  console.log("taken");
} catch (error) {
  console.log(error instanceof LockedError ? `refused ${error.pid}` : `failed: ${String(error)}`);
}
process.stdin.resume();
