/** The load generator as a process of its own, with nothing else of the bench in it: `bun bench/load/main.ts`, words as for `load`. */
import { UsageError } from "../usage-error.ts";
import { loadCommand } from "./command.ts";

try {
  process.exitCode = await loadCommand(process.argv.slice(2));
} catch (error) {
  console.error(error instanceof UsageError ? error.message : error);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
process.exit();
