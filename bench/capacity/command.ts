/** `npm run bench -- capacity [results.json]`: predicts the throughput of a fleet from a measured result. */
import { parseArgs } from "node:util";
import type { Facts } from "../report/facts.ts";
import { newestWith, readFacts } from "../report/results.ts";
import { UsageError } from "../usage-error.ts";
import type { Size } from "./limits.ts";
import { hotTexts } from "./hot-report.ts";
import { chainText, checkTable, fit, stagesTable } from "./report.ts";
import { sharedOutTexts } from "./shared-out-report.ts";
import { sizesTable, sizeTable } from "./sizes-report.ts";

export const capacityUsage = `npm run bench -- capacity [results.json] [--gateways N --workers N --metering N --cores N [--masters N]]

  predicts the throughput of a fleet from a result with the part "fleet" (default: the newest), and what it costs to share out Redis and
  metering from the newest with "shards" and "metering"; without a size, of several sizes`;

export function capacityCommand(words: string[]): number {
  const { path, size } = readWords(words);
  const file = path ?? newestWith(["fleet"]);
  if (file === null) throw new UsageError("There is no result with the part fleet: run npm run bench -- fleet shards metering");
  const facts = withSharedOut(readFacts(file));
  const fitted = fit(facts);
  if (!fitted) throw new UsageError(`"${file}" has no part fleet: run npm run bench -- fleet shards metering`);
  const { machine, at, commit, hotPath } = facts;
  console.log(`From ${file}: measured ${at} at commit ${commit} on ${machine.cores} cores of ${machine.processor}\n`);
  const sizes = size === null ? sizesTable(fitted) : sizeTable(size, fitted);
  const chain = hotPath ? [chainText(hotPath)] : [];
  console.log(
    [stagesTable(fitted), checkTable(fitted), sizes, ...hotTexts(facts), ...sharedOutTexts(facts), ...chain].join("\n\n"),
  );
  return 0;
}

/** The parts about sharing out may be of another run of this machine. */
function withSharedOut(facts: Facts): Facts {
  if (facts.shards && facts.metering) return facts;
  const path = newestWith(["shards", "metering"]);
  if (path === null) return facts;
  console.log(`What it costs to share work out is from ${path}\n`);
  const { shards, metering } = readFacts(path);
  return { ...facts, ...(shards && { shards }), ...(metering && { metering }) };
}

function readWords(words: string[]): { path: string | undefined; size: Size | null } {
  const text = { type: "string" } as const;
  try {
    const options = { gateways: text, workers: text, metering: text, cores: text, masters: text };
    const { values, positionals } = parseArgs({ args: words, options, allowPositionals: true });
    const { masters: given = "1" } = values;
    const counts = [values.gateways, values.workers, values.metering, values.cores, given].map(Number);
    const [gateways = 0, workers = 0, metering = 0, cores = 0, masters = 0] = counts;
    const hasSize = Object.keys(values).length > 0;
    if (hasSize && !counts.every((count) => Number.isInteger(count) && count > 0)) {
      throw new Error(
        "--gateways, --workers, --metering, --cores and --masters must be whole numbers, the first four given together",
      );
    }
    return { path: positionals[0], size: hasSize ? { gateways, workers, metering, masters, cores } : null };
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : String(error)}\n\n${capacityUsage}`);
  }
}
