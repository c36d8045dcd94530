/** Tries to take the lock of a folder, says what came of it, and lives on until it is killed. */
import { LockedError, takeLock } from "../../../src/process/lock.ts";

const folder = process.argv[2] ?? "";
try {
  await takeLock(folder);
  console.log("taken");
} catch (error) {
  console.log(error instanceof LockedError ? `refused ${error.pid}` : `failed: ${String(error)}`);
}
process.stdin.resume();
