/** `npm run simulate`: runs the whole protocol under faults, once for each seed, in several processes. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { help } from "./bootstrap/help.mjs";
import { killWithParent } from "./services/program.ts";
import type { Progress } from "../test/simulation/run-seeds.ts";

const shownFailuresMax = 3;
/** The tallies that the progress shows. */
const shownNames =
  "faults,messages harmed,requests,admitted,charged,charged late,cut,expired,unknown,embeddings,on own keys,other payers".split(
    ",",
  );
const progressEveryMs = 5_000;

const root = dirname(import.meta.dir);
const wanted = readArguments();
if (wanted === null) {
  console.error(help.simulate);
  process.exit(2);
}
const startedAt = performance.now();
const tally: Record<string, number> = {};
const failed: number[] = [];
const ticking = setInterval(() => console.log(progressText()), progressEveryMs);
const codes = await Promise.all(childrenOf(wanted).map(runChild));
clearInterval(ticking);
report(wanted.seeds);
process.exit(failed.length === 0 && codes.every((code) => code === 0) ? 0 : 1);

interface Seeds {
  from: number;
  seeds: number;
  processes: number;
}

function readArguments(): Seeds | null {
  const text = { type: "string" } as const;
  const options = { seeds: text, from: text, seed: text, processes: text };
  try {
    const { seeds = "300", from = "1", seed, processes = "2" } = parseArgs({ options }).values;
    const which = seed === undefined ? { from: Number(from), seeds: Number(seeds) } : { from: Number(seed), seeds: 1 };
    const read = { ...which, processes: Number(processes) };
    return Object.values(read).every(Number.isSafeInteger) && read.seeds > 0 && read.processes > 0 ? read : null;
  } catch {
    return null;
  }
}

/** The processes take turns: of two, each has every other seed. */
function childrenOf({ from, seeds, processes }: Seeds): { from: number; count: number; step: number }[] {
  const step = Math.min(processes, seeds);
  return Array.from({ length: step }, (_, index) => ({ from: from + index, count: Math.ceil((seeds - index) / step), step }));
}

async function runChild({ from, count, step }: { from: number; count: number; step: number }): Promise<number | null> {
  const words = [join(root, "test/simulation/run-seeds.ts"), `${from}`, `${count}`, `${step}`];
  // Whoever stops a long run by a signal stops all of it.
  const [program = "", ...given] = [...killWithParent("SIGKILL"), process.execPath, ...words];
  const child = spawn(program, given, { stdio: ["ignore", "pipe", "inherit"] });
  createInterface({ input: child.stdout }).on("line", (line) => take(JSON.parse(line) as Progress));
  await once(child, "close");
  return child.exitCode;
}

function take({ tally: counts, failures }: Progress): void {
  for (const [name, count] of Object.entries(counts)) tally[name] = (tally[name] ?? 0) + count;
  for (const { seed, text } of failures) {
    failed.push(seed);
    if (failed.length <= shownFailuresMax) console.log(`\nSeed ${seed} fails\n${text}\n`);
  }
}

function progressText(): string {
  const seconds = (performance.now() - startedAt) / 1_000;
  const rate = ((tally["seeds"] ?? 0) / seconds).toFixed(1);
  const counts = shownNames.map((name) => `${name} ${shown(name)}`).join(", ");
  return `${shown("seeds")} seeds in ${seconds.toFixed(0)} s (${rate}/s), ${failed.length} failed: ${counts}`;
}

function shown(name: string): string {
  return Math.round(tally[name] ?? 0).toLocaleString("en");
}

function report(seeds: number): void {
  console.log(progressText());
  const invariants = Object.keys(tally).filter((name) => /^I-\d/.test(name));
  for (const name of invariants) console.log(`  ${name.padEnd(14)} ${shown(name).padStart(14)} checks`);
  console.log(`  ${"ledger verify".padEnd(14)} ${shown("rows verified").padStart(14)} rows`);
  const missing = seeds - (tally["seeds"] ?? 0);
  if (missing > 0) console.log(`A process ended early: ${missing} seeds did not run`);
  if (failed.length === 0) console.log("Every invariant held in every run");
  else console.log(`Failed: ${failed.slice(0, 20).join(", ")}`);
}
