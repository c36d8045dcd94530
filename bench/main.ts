/** `npm run bench`: measures the service on this machine, beside others; see docs/performance.md. */
import { loadCommand } from "./load/command.ts";
import { UsageError } from "./usage-error.ts";

const commands: Record<string, (words: string[]) => Promise<number>> = {
  load: loadCommand,
};

const [name = "", ...words] = process.argv.slice(2);

try {
  const command = commands[name];
  if (!command) throw new UsageError(`Cannot run "${name}": there are ${Object.keys(commands).join(", ")}`);
  process.exitCode = await command(words);
} catch (error) {
  console.error(error instanceof UsageError ? error.message : error);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
process.exit();
