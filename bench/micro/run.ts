/** `npm run bench -- micro [NAME…]`: runs all microbenchmarks, or the named ones. */
import { UsageError } from "../usage-error.ts";
import { admitMany } from "./admit-many.ts";
import { admitShards } from "./admit-shards.ts";
import { authenticate } from "./authenticate.ts";
import { bodyCheck } from "./body-check.ts";
import { requestBatcher } from "./request-batcher.ts";
import type { Case, Microbenchmark } from "./benchmark.ts";
import { providerCall } from "./provider-call.ts";
import { relayEvents } from "./relay-events.ts";
import { settleRows } from "./settle-rows.ts";

const microbenchmarks: Record<string, Microbenchmark> = {
  authenticate,
  "body-check": bodyCheck,
  "admit-many": admitMany,
  "admit-shards": admitShards,
  "provider-call": providerCall,
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
  console.log(`${"".padEnd(72)}${"µs (median)".padStart(14)}${"µs (best)".padStart(14)}${"per second".padStart(14)}`);
  await measureAll(names.length > 0 ? names : Object.keys(microbenchmarks), ({ question, what, unit, median, least }) => {
    const label = `${question}: ${what}, per ${unit}`;
    const rate = Math.round(1_000_000 / median).toLocaleString("en");
    console.log(
      `${label.padEnd(72)}${median.toPrecision(3).padStart(14)}${least.toPrecision(3).padStart(14)}${rate.padStart(14)}`,
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
      const { othersCpu, ...figures } = await timeCase(one);
      const result = { question: name, what: one.name, unit: benchmark.unit, ...figures };
      const cpu = { ...result, what: `${one.name}: servers' CPU`, median: othersCpu, least: othersCpu };
      for (const each of one.othersCpuSeconds ? [result, cpu] : [result]) {
        results.push(each);
        onResult(each);
      }
    }
  }
  return results;
}

/** `othersCpu` is over all batches, for it is counted in hundredths of a second. */
export async function timeCase(one: Case): Promise<Pick<MicroResult, "median" | "least"> & { othersCpu: number }> {
  await batch(one, warmUpMs);
  const usedBefore = one.othersCpuSeconds?.() ?? 0;
  const all: { us: number; units: number }[] = [];
  for (let n = 0; n < batches; n++) all.push(await batch(one, batchMs));
  const units = all.reduce((sum, some) => sum + some.units, 0);
  const sorted = all.map(({ us }) => us).toSorted((a, b) => a - b);
  const othersCpu = (((one.othersCpuSeconds?.() ?? 0) - usedBefore) * 1_000_000) / units;
  return { median: sorted[Math.floor(batches / 2)] ?? Number.NaN, least: sorted[0] ?? Number.NaN, othersCpu };
}

/** Measures for at least `ms`. @returns microseconds per unit, and how many there were */
async function batch({ units, call }: Case, ms: number): Promise<{ us: number; units: number }> {
  const startedAt = performance.now();
  let calls = 0;
  let now = startedAt;
  while (now - startedAt < ms) {
    const result = call();
    if (result instanceof Promise) await result;
    calls++;
    now = performance.now();
  }
  return { us: ((now - startedAt) * 1_000) / (calls * units), units: calls * units };
}
