/**
 * Reads what each process of a fleet on one machine holds, with the servers that its supervisor starts: idle, under load, and a minute
 * after. Memory that several processes share, such as Bun's code, counts once.
 */
import { readFileSync, rmSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { freePort } from "../../scripts/services/ports.ts";
import { instantModel, startProvider } from "../contenders/provider.ts";
import { Verifier } from "../contenders/verifier.ts";
import { modelId, writeCatalog } from "../contenders/weir.ts";
import { makeKeys } from "../hosts/make-keys.ts";
import { runLoadProcess } from "../measure/load-process.ts";
import { dataFolder } from "../paths.ts";
import { Child } from "../processes/child.ts";
import { childrenOf, proportionalOf } from "../processes/usage.ts";
import { mebibytes, table } from "../report/table.ts";
import { pause } from "../until.ts";

interface MemoryPlan {
  gateways: number;
  workers: number;
  /** How long the load lasts. */
  seconds: number;
  say(line: string): void;
}

/** Bytes of each process by its name. */
type Reading = Map<string, number>;

export interface FleetMemory {
  requestsPerSecond: number;
  idle: Reading;
  loaded: Reading;
  recovered: Reading;
}

const readyMsMax = 120_000;
const idleMs = 30_000;
const recoveryMs = 60_000;
const readBeforeEndMs = 2_000;
const connections = "128";

export async function runMemory({ gateways, workers, seconds, say }: MemoryPlan): Promise<FleetMemory> {
  const folder = join(dataFolder, "memory");
  rmSync(folder, { recursive: true, force: true });
  await using provider = await startProvider();
  const [port, metricsPort] = [await freePort(), await freePort()];
  const operatorToken = randomBytes(24).toString("hex");
  await using supervisor = new Child({
    name: "supervisor",
    arguments: ["scripts/cluster.ts", "--gateways", String(gateways), "--workers", String(workers), "--port", String(port)],
    environment: {
      DATA_DIR: join(folder, "data"),
      CATALOG_DIR: await writeCatalog(join(folder, "catalog"), provider),
      OPERATOR_TOKEN: operatorToken,
      METRICS_PORT: String(metricsPort),
    },
  });
  const url = `http://127.0.0.1:${port}`;
  const verifier = new Verifier({ url, operatorToken, metricsPorts: [] });
  await supervisor.ready(() => verifier.runnable([modelId(instantModel)]), readyMsMax);
  const keysFile = join(folder, "keys");
  await writeFile(keysFile, (await makeKeys(url, operatorToken)).join("\n"));
  await pause(idleMs);
  const idle = read(supervisor.pid);
  const words = ["--url", url, "--keys", keysFile, "--model", modelId(instantModel), "--connections", connections];
  const reading = pause(seconds * 1_000 - readBeforeEndMs).then(() => read(supervisor.pid));
  const { result } = await runLoadProcess([...words, "--warm-up", "0", "--seconds", String(seconds)]);
  say(`memory: ${result.perSecond} requests/s for ${seconds} s`);
  const loaded = await reading;
  await pause(recoveryMs);
  const found = { requestsPerSecond: result.perSecond, idle, loaded, recovered: read(supervisor.pid) };
  console.log(memoryTable(found));
  return found;
}

export function memoryTable({ idle, loaded, recovered }: FleetMemory): string {
  const readings = [idle, loaded, recovered];
  const names = [...new Set(readings.flatMap((reading) => [...reading.keys()]))];
  const lines = names.map((name) => [name, ...readings.map((reading) => mebibytes(reading.get(name) ?? 0))]);
  const all = readings.map((reading) => mebibytes(reading.values().reduce((sum, bytes) => sum + bytes, 0)));
  return table(["MiB", "idle for 30 s", "under load", "a minute after"], [...lines, ["all", ...all]]);
}

/** The supervisor and all that it started, a server with its children. @throws Error when the fleet has ended */
function read(supervisor: number): Reading {
  const found: Reading = new Map([["supervisor", proportionalOf([supervisor])]]);
  for (const pid of childrenOf(supervisor)) {
    const name = nameOf(pid);
    if (name !== null) found.set(name, (found.get(name) ?? 0) + proportionalOf([pid, ...childrenOf(pid)]));
  }
  if (!found.has("gateway")) throw new Error("The fleet ended before it was read");
  return found;
}

/** null: it ended meanwhile. */
function nameOf(pid: number): string | null {
  try {
    const [program = "", script = "", kind] = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
    if (program === "bun") return script === "src/main.ts" ? "gateway" : (kind ?? script);
    return /[^/ ]+(?= |$)/.exec(program)?.[0] ?? null;
  } catch {
    return null;
  }
}
