/** One process of a simulation, `bun test/simulation/run-seeds.ts FROM COUNT STEP`. It prints a line of JSON for each batch of seeds. */
import { judge } from "./judge.ts";
import { StoredLedgers } from "./world/stored.ts";
import { addTally, type Tally } from "./tally.ts";

export interface Progress {
  tally: Tally;
  failures: { seed: number; text: string }[];
}

/** Unhandled rejections count as failures, since they would end a process of Weir. */
const unhandled: string[] = [];
process.on("unhandledRejection", (error) =>
  unhandled.push(error instanceof Error ? (error.stack ?? error.message) : String(error)),
);

const [from = 1, count = 1, step = 1] = process.argv.slice(2).map(Number);
/** The database verifies the ledgers of many runs at nearly the cost of one; a short run reports its failures sooner. */
const batchMax = count > 1_000 ? 100 : 25;
await using stored = await StoredLedgers.open();
for (let done = 0; done < count; done += batchMax) {
  const seeds = Array.from({ length: Math.min(batchMax, count - done) }, (_, index) => from + (done + index) * step);
  const verdicts = await judge(seeds, stored);
  const progress: Progress = { tally: {}, failures: [] };
  for (const { seed, tally, failure } of verdicts) {
    addTally(progress.tally, tally);
    if (failure !== null) progress.failures.push({ seed, text: failure });
  }
  for (const text of unhandled.splice(0))
    progress.failures.push({ seed: seeds[0] ?? 0, text: `In this seed or a later one of its batch: ${text}` });
  process.stdout.write(`${JSON.stringify(progress)}\n`);
}
