/** Takes the lock of a folder, says so, and keeps it until it is killed. */
import { LockedError, takeLock } from "../../src/process/lock.ts";

const folder = process.argv[2] ?? "";
try {
  await takeLock(folder);
  console.log("taken");
} catch (error) {
  if (!(error instanceof LockedError)) throw error;
  console.log(`refused ${error.pid}`);
}
process.stdin.resume();
