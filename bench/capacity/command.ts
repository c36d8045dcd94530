/** `npm run bench -- capacity [results.json]`: predicts the throughput of a fleet from a measured result. */
import { parseArgs } from "node:util";
import { readFacts, newestWith } from "../report/results.ts";
import { UsageError } from "../usage-error.ts";
import type { Size } from "./limits.ts";
import { chainText, checkTable, fit, sizesTable, stagesTable } from "./report.ts";

export const capacityUsage = `npm run bench -- capacity [results.json] [--gateways N --workers N --metering N --cores N]

  predicts the throughput of a fleet from a result with the part "fleet" (default: the newest); without a size, of several sizes`;

export function capacityCommand(words: string[]): number {
  const { path, size } = readWords(words);
  const file = path ?? newestWith(["fleet"]);
  if (file === null) throw new UsageError("There is no result with the part fleet: run npm run bench -- fleet");
  const { fleet, hotPath, machine, at, commit } = readFacts(file);
  const fitted = fleet && fit(fleet, machine.cores);
  if (!fitted) throw new UsageError(`"${file}" has no part fleet: run npm run bench -- fleet`);
  console.log(`From ${file}: measured ${at} at commit ${commit} on ${machine.cores} cores of ${machine.processor}\n`);
  const chain = hotPath ? [chainText(hotPath)] : [];
  console.log([stagesTable(fitted), checkTable(fitted), sizesTable(fitted, size), ...chain].join("\n\n"));
  return 0;
}

function readWords(words: string[]): { path: string | undefined; size: Size | null } {
  const text = { type: "string" } as const;
  try {
    const options = { gateways: text, workers: text, metering: text, cores: text };
    const { values, positionals } = parseArgs({ args: words, options, allowPositionals: true });
    const counts = [values.gateways, values.workers, values.metering, values.cores].map(Number);
    const [gateways = 0, workers = 0, metering = 0, cores = 0] = counts;
    const hasSize = Object.keys(values).length > 0;
    if (hasSize && !counts.every((count) => Number.isInteger(count) && count > 0)) {
      throw new Error("--gateways, --workers, --metering and --cores must be whole numbers, and be given together");
    }
    return { path: positionals[0], size: hasSize ? { gateways, workers, metering, cores } : null };
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : String(error)}\n\n${capacityUsage}`);
  }
}
