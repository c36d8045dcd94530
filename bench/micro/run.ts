/** `npm run bench -- micro [NAME…]`: runs all microbenchmarks, or the named ones. */
import { UsageError } from "../usage-error.ts";
import { admitMany } from "./admit-many.ts";
import { authenticate } from "./authenticate.ts";
import { bodyCheck } from "./body-check.ts";
import { requestBatcher } from "./request-batcher.ts";
import type { Case, Microbenchmark } from "./benchmark.ts";
import { relayEvents } from "./relay-events.ts";
import { settleRows } from "./settle-rows.ts";

const microbenchmarks: Record<string, Microbenchmark> = {
  authenticate,
  "body-check": bodyCheck,
  "admit-many": admitMany,
  "request-batcher": requestBatcher,
  "relay-events": relayEvents,
  "settle-rows": settleRows,
};

const warmUpMs = 500;
const batchMs = 200;
const batches = 9;

/** Figures in microseconds per unit. */
export interface MicroResult {
  question: string;
  what: string;
  unit: string;
  /** The figure of the median batch, and of the best. */
  median: number;
  least: number;
}

export async function microCommand(names: string[]): Promise<number> {
  const unknown = names.find((name) => !(name in microbenchmarks));
  if (unknown !== undefined)
    throw new UsageError(`Cannot run "${unknown}": the microbenchmarks are ${Object.keys(microbenchmarks).join(", ")}`);
  console.log(`${"".padEnd(64)}${"µs (median)".padStart(14)}${"µs (best)".padStart(14)}${"per second".padStart(14)}`);
  await measureAll(names.length > 0 ? names : Object.keys(microbenchmarks), ({ question, what, unit, median, least }) => {
    const label = `${question}: ${what}, per ${unit}`;
    const rate = Math.round(1_000_000 / median).toLocaleString("en");
    console.log(
      `${label.padEnd(64)}${median.toPrecision(3).padStart(14)}${least.toPrecision(3).padStart(14)}${rate.padStart(14)}`,
    );
  });
  return 0;
}

/** Runs all microbenchmarks. */
export async function runMicro({ say }: { say(line: string): void }): Promise<MicroResult[]> {
  return measureAll(Object.keys(microbenchmarks), ({ question, what, unit, median }) =>
    say(`${question}: ${what}: ${median.toPrecision(3)} µs per ${unit}`),
  );
}

async function measureAll(names: string[], onResult: (result: MicroResult) => void): Promise<MicroResult[]> {
  const results: MicroResult[] = [];
  for (const name of names) {
    const benchmark = microbenchmarks[name];
    if (benchmark === undefined) continue;
    console.error(`preparing ${name}`);
    await using stack = new AsyncDisposableStack();
    for (const one of await benchmark.prepare(stack)) {
      const result = { question: name, what: one.name, unit: benchmark.unit, ...(await time(one)) };
      results.push(result);
      onResult(result);
    }
  }
  return results;
}

async function time(one: Case): Promise<Pick<MicroResult, "median" | "least">> {
  await batch(one, warmUpMs);
  const times: number[] = [];
  for (let n = 0; n < batches; n++) times.push(await batch(one, batchMs));
  const sorted = times.toSorted((a, b) => a - b);
  return { median: sorted[Math.floor(batches / 2)] ?? Number.NaN, least: sorted[0] ?? Number.NaN };
}

/** Measures for at least `ms`. @returns microseconds per unit */
async function batch({ units, call }: Case, ms: number): Promise<number> {
  const startedAt = performance.now();
  let calls = 0;
  let now = startedAt;
  while (now - startedAt < ms) {
    const result = call();
    if (result instanceof Promise) await result;
    calls++;
    now = performance.now();
  }
  return ((now - startedAt) * 1_000) / (calls * units);
}
