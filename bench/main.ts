/** `npm run bench`: measures the service and other gateways on this machine. docs/internals/performance.md explains the method. */
import { parseArgs } from "node:util";
import { capacityCommand } from "./capacity/command.ts";
import type { Peers } from "./contenders/peers.ts";
import { loadCommand } from "./load/command.ts";
import { usage } from "./help.ts";
import { microCommand, runMicro } from "./micro/run.ts";
import { runAgent } from "./parts/agent.ts";
import { runCatalog } from "./parts/catalog.ts";
import { runBodies } from "./parts/bodies.ts";
import { runConsole } from "./parts/console.ts";
import { runEmbeddings } from "./parts/embeddings.ts";
import { runFeatures } from "./parts/features.ts";
import { runFleet } from "./parts/fleet.ts";
import { runHosts } from "./parts/hosts.ts";
import { runHotPath } from "./parts/hot-path.ts";
import { runLists } from "./parts/lists.ts";
import { runLog } from "./parts/log.ts";
import { runMemory } from "./parts/memory.ts";
import { runMetering } from "./parts/metering.ts";
import { runPeers } from "./parts/peers.ts";
import { runShards } from "./parts/shards.ts";
import { runSoak } from "./parts/soak.ts";
import { runStreams } from "./parts/stream.ts";
import { sliceSeconds } from "./parts/sweep.ts";
import { runUsage } from "./parts/usage.ts";
import { factsHere, serverVersions, type Facts } from "./report/facts.ts";
import { failuresOf } from "./report/failures.ts";
import { publishCommand } from "./report/publish.ts";
import { rowsOf } from "./report/rows.ts";
import { goalsTable } from "./report/sections/run.ts";
import { writeReport } from "./report/write.ts";
import { UsageError } from "./usage-error.ts";

interface Options {
  gateways: number;
  workers: number;
  rounds: number;
  seconds: number | null;
  seed: number | null;
  say(line: string): void;
}

const parts: Record<string, (options: Options, facts: Facts) => Promise<void>> = {
  async "hot-path"(options, facts) {
    facts.hotPath = await runHotPath({ ...options, seconds: options.seconds ?? sliceSeconds });
    notePeers(facts, facts.hotPath);
  },
  async peers(options, facts) {
    facts.peers = await runPeers({ ...options, seconds: options.seconds ?? sliceSeconds });
    notePeers(facts, facts.peers);
  },
  async agent(options, facts) {
    facts.agent = await runAgent({ ...options, seconds: options.seconds ?? sliceSeconds });
    notePeers(facts, facts.agent);
  },
  async bodies(options, facts) {
    facts.bodies = await runBodies({ ...options, seconds: options.seconds ?? 5 });
    notePeers(facts, facts.bodies);
  },
  async embeddings(options, facts) {
    facts.embeddings = await runEmbeddings({ ...options, seconds: options.seconds ?? 3 });
  },
  async features(options, facts) {
    facts.features = await runFeatures({ ...options, seconds: options.seconds ?? 3 });
  },
  async fleet(options, facts) {
    facts.fleet = await runFleet({ ...options, seconds: options.seconds ?? 3 });
  },
  async stream(options, facts) {
    facts.streams = await runStreams({ ...options, streams: 2_000 });
  },
  async soak(options, facts) {
    facts.soak = await runSoak({ ...options, seconds: options.seconds ?? 60 });
  },
  async catalog(options, facts) {
    facts.catalog = await runCatalog({ ...options, seconds: options.seconds ?? 5 });
  },
  async lists(options, facts) {
    facts.lists = await runLists(options);
  },
  async log(options, facts) {
    facts.log = await runLog(options);
  },
  async usage(options, facts) {
    facts.usage = await runUsage(options);
  },
  async shards(options, facts) {
    facts.shards = await runShards(options);
  },
  async metering(options, facts) {
    facts.metering = await runMetering(options);
  },
  async hosts(options, facts) {
    const found = await runHosts({ ...options, seconds: options.seconds ?? 3 });
    if ("leftOut" in found) facts.leftOut.push(found.leftOut);
    else facts.hosts = found;
  },
  async memory(options) {
    await runMemory({ ...options, seconds: options.seconds ?? 30 });
  },
  async console(options, facts) {
    facts.console = await runConsole({ ...options, seconds: options.seconds ?? 8 });
  },
  async micro(options, facts) {
    facts.micro = await runMicro(options);
  },
};

function notePeers(facts: Facts, { versions, leftOut }: Pick<Peers, "versions" | "leftOut">): void {
  Object.assign(facts.versions, versions);
  facts.leftOut = [...new Set([...facts.leftOut, ...leftOut])];
}

async function benchCommand(names: string[], words: string[]): Promise<number> {
  const facts = factsHere(["npm run bench --", ...process.argv.slice(2)].join(" "));
  const startedAt = performance.now();
  const say = (line: string) => console.error(`${((performance.now() - startedAt) / 1_000).toFixed(0).padStart(4)} s  ${line}`);
  const options = { ...readOptions(words), say };
  for (const name of names) {
    await parts[name]?.(options, facts).catch((error: unknown) => {
      facts.invalid.push(`${name}: ${error instanceof Error ? error.message : String(error)}`);
      console.error(error);
    });
  }
  Object.assign(facts.versions, await serverVersions());
  facts.invalid.push(...failuresOf(facts));
  const path = writeReport(facts);
  console.log(goalsTable(rowsOf(facts)));
  for (const line of facts.leftOut) console.log(`\n${line}`);
  for (const reason of facts.invalid) console.log(`\nThis run is invalid: ${reason}`);
  console.log(`\nAll figures: ${path}`);
  return facts.invalid.length === 0 ? 0 : 1;
}

function readOptions(words: string[]): Omit<Options, "say"> {
  const text = { type: "string" } as const;
  try {
    const { values } = parseArgs({
      args: words,
      options: { gateways: text, workers: text, rounds: text, seconds: text, seed: text },
    });
    const count = (given: string | undefined, fallback: number) => wholeNumber(given ?? String(fallback));
    return {
      gateways: count(values.gateways, 1),
      workers: count(values.workers, 1),
      rounds: count(values.rounds, 3),
      seconds: values.seconds === undefined ? null : wholeNumber(values.seconds),
      seed: values.seed === undefined ? null : wholeNumber(values.seed),
    };
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
  }
}

function wholeNumber(text: string): number {
  if (/^[1-9]\d{0,4}$/.test(text)) return Number(text);
  throw new UsageError(`"${text}" is not a whole number above zero`);
}

async function main([first = "", ...rest]: string[]): Promise<number> {
  if (first === "" || [first, ...rest].some((word) => word === "--help" || word === "-h")) {
    console.log(usage);
    return 0;
  }
  if (first === "load") return loadCommand(rest);
  if (first === "capacity") return capacityCommand(rest);
  if (first === "publish") return publishCommand(rest);
  if (first === "micro") return microCommand(rest);
  if (first === "all") return benchCommand(Object.keys(parts), rest);
  if (first.startsWith("-")) return benchCommand(Object.keys(parts), [first, ...rest]);
  if (first in parts) {
    const words = [first, ...rest];
    const firstOption = words.findIndex((word) => !(word in parts));
    const count = firstOption === -1 ? words.length : firstOption;
    return benchCommand(words.slice(0, count), words.slice(count));
  }
  throw new UsageError(`Cannot run "${first}"\n\n${usage}`);
}

/** A signal ends the bench and its processes at once, without disposal. */
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  if (process.argv[2] !== "load") process.once(signal, () => process.exit(130));
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  console.error(error instanceof UsageError ? error.message : error);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
process.exit();
