/** Keys that nobody has, all different, as fast as they come, while somebody else's requests are to be as quick as ever. */
import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { instantModel, startProvider } from "../../../bench/contenders/provider.ts";
import type { Result } from "../../../bench/load/tally.ts";
import { runLoadProcess } from "../../../bench/measure/load-process.ts";
import { Fleet } from "../../support/fleet.ts";
import { ownServices } from "../../support/own-services.ts";
import { stubKeyEnv, writeStubCatalog } from "../../support/stub-catalog.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import type { PartOptions } from "./part.ts";
import { tallied } from "./bodies.ts";

const goodKeys = 20;
const warmUpSeconds = 2;
/** Connections are open then, and what every request runs through is compiled. */
const wakeWords = ["--connections", "32", "--seconds", "5", "--warm-up", "0"];
const p99MsMax = 25;

export async function wrongKeysPart({ wrongKeys, goodRequests, seconds, say }: PartOptions): Promise<string[]> {
  await using stack = new AsyncDisposableStack();
  const services = await ownServices();
  if (services !== null) stack.use(services);
  const provider = stack.use(await startProvider());
  const { path } = stack.use(await temporaryFolder());
  const url = `http://127.0.0.1:${provider.port}/v1`;
  const catalogDir = await writeStubCatalog(path, { url, model: { upstream_model: instantModel, supports: [] } });
  const environment = { [stubKeyEnv]: "sk-stub" };
  const fleet = stack.use(await Fleet.start({ services: services?.urls ?? null, workers: 1, catalogDir, environment }));
  await fleet.runnable("stub/model");
  const { keys } = await fleet.operator().customer({ credit: "1000", keys: goodKeys });
  const good = join(path, "good-keys");
  await writeFile(good, keys.map(({ key }) => key).join("\n"));
  const wrong = join(path, "wrong-keys");
  const count = wrongKeys * (seconds + warmUpSeconds);
  await writeFile(wrong, Array.from({ length: count }, () => `platform-api-${randomBytes(32).toString("hex")}`).join("\n"));
  const target = ["--url", fleet.url(), "--model", "stub/model", "--max-tokens", "16"];
  await runLoadProcess([...target, "--keys", good, ...wakeWords]);
  const load = async (file: string, rate: number): Promise<Result> => {
    const times = ["--seconds", String(seconds), "--warm-up", String(warmUpSeconds)];
    return (await runLoadProcess([...target, "--keys", file, "--rate", String(rate), ...times])).result;
  };
  say(`${services === null ? "one process" : "a fleet with one gateway and one worker"}: ${goodRequests} good requests/s alone`);
  const alone = await load(good, goodRequests);
  say(`and with ${wrongKeys} wrong keys/s, all different`);
  const [beside, flood] = await Promise.all([load(good, goodRequests), load(wrong, wrongKeys)]);
  say(`alone:  ${told(alone)}`);
  say(`beside: ${told(beside)}`);
  say(`wrong keys: ${(flood.endedInAll / (seconds + warmUpSeconds)).toFixed(0)} answers/s, ${tallied(flood.statuses)}`);
  return judged(beside, flood);
}

/** A result in one line. */
export function told({ latencyMs, perSecond, failedInAll }: Result): string {
  const ms = (value: number | undefined) => `${value?.toFixed(1) ?? "none"} ms`;
  return `${perSecond.toFixed(0)} requests/s, p50 ${ms(latencyMs?.p50)}, p99 ${ms(latencyMs?.p99)}, max ${ms(latencyMs?.max)}, ${failedInAll} failed`;
}

function judged(beside: Result, flood: Result): string[] {
  const p99 = beside.latencyMs?.p99 ?? Infinity;
  const other = Object.keys(flood.statuses).filter((status) => status !== "401");
  return [
    ...(p99 < p99MsMax ? [] : [`good requests had a p99 of ${p99.toFixed(1)} ms, which is not below ${p99MsMax}`]),
    ...(beside.failedInAll === 0 ? [] : [`${beside.failedInAll} good requests failed`]),
    ...(other.length === 0 ? [] : [`wrong keys were answered with ${other.join(", ")}`]),
  ];
}
