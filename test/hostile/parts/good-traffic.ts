/** Good chats of another workspace. They must stay fast during an attack. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { instantModel, startProvider } from "../../../bench/contenders/provider.ts";
import type { Result } from "../../../bench/load/tally.ts";
import { runLoadProcess } from "../../../bench/measure/load-process.ts";
import { Fleet } from "../../support/servers/fleet.ts";
import { ownServices } from "../../support/servers/own-services.ts";
import { stubKeyEnv, writeStubCatalog } from "../../support/providers/stub-catalog.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import type { PartOptions } from "./part.ts";

const goodKeys = 20;
export const warmUpSeconds = 2;
/** The load before a measurement, which opens connections and compiles the code. */
const warmUpWords = ["--connections", "32", "--seconds", "5", "--warm-up", "0"];
const p99MsMax = 25;

export interface GoodTraffic extends AsyncDisposable {
  fleet: Fleet;
  /** A description of the service. */
  served: string;
  /** The file with the good keys, and a folder for other files. */
  goodKeys: string;
  folder: string;
  load(keys: string, rate: number): Promise<Result>;
}

/** Starts a fleet, or one process where there are no servers, and warms it up with good requests. */
export async function startGoodTraffic({ seconds }: Pick<PartOptions, "seconds">): Promise<GoodTraffic> {
  await using stack = new AsyncDisposableStack();
  const services = await ownServices();
  if (services !== null) stack.use(services);
  const provider = stack.use(await startProvider());
  const { path: folder } = stack.use(await temporaryFolder());
  const url = `http://127.0.0.1:${provider.port}/v1`;
  const catalogDir = await writeStubCatalog(folder, { url, model: { upstream_model: instantModel, supports: [] } });
  const environment = { [stubKeyEnv]: "sk-stub" };
  const fleet = stack.use(await Fleet.start({ services: services?.urls ?? null, workers: 1, catalogDir, environment }));
  await fleet.runnable("stub/model");
  const { keys } = await fleet.operator().customer({ credit: "1000", keys: goodKeys });
  const file = join(folder, "good-keys");
  await writeFile(file, keys.map(({ key }) => key).join("\n"));
  const target = ["--url", fleet.url(), "--model", "stub/model", "--max-tokens", "16"];
  await runLoadProcess([...target, "--keys", file, ...warmUpWords]);
  const times = ["--seconds", String(seconds), "--warm-up", String(warmUpSeconds)];
  const kept = stack.move();
  return {
    fleet,
    served: services === null ? "one process" : "a fleet with one gateway and one worker",
    goodKeys: file,
    folder,
    load: async (of, rate) => (await runLoadProcess([...target, "--keys", of, "--rate", String(rate), ...times])).result,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** Formats a result in one line. */
export function resultLine({ latencyMs, perSecond, failedInAll }: Result): string {
  const ms = (value: number | undefined) => `${value?.toFixed(1) ?? "none"} ms`;
  return `${perSecond.toFixed(0)} requests/s, p50 ${ms(latencyMs?.p50)}, p99 ${ms(latencyMs?.p99)}, max ${ms(latencyMs?.max)}, ${failedInAll} failed`;
}

/** The damage of an attack to the good requests: one line for each limit that they exceeded. */
export function degradation({ latencyMs, failedInAll }: Result): string[] {
  const p99 = latencyMs?.p99 ?? Infinity;
  return [
    ...(p99 < p99MsMax ? [] : [`good requests had a p99 of ${p99.toFixed(1)} ms, which is not below ${p99MsMax}`]),
    ...(failedInAll === 0 ? [] : [`${failedInAll} good requests failed`]),
  ];
}
