/** The near host: gateways, prober, provider and load. Measures the same loads at each distance, and prints them as JSON. */
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../../scripts/services/ports.ts";
import { instantModel, startProvider, warmUpSeconds } from "../contenders/provider.ts";
import { Verifier } from "../contenders/verifier.ts";
import { modelId, writeCatalog } from "../contenders/weir.ts";
import { LoadGenerator } from "../measure/load-generator.ts";
import { measure, progressLine, type Measurement } from "../measure/measure.ts";
import { Child } from "../processes/child.ts";
import { usageOf } from "../processes/usage.ts";
import { until } from "../until.ts";
import { makeKeys } from "./make-keys.ts";
import type { FarHost } from "./far-host.ts";
import { on } from "./two-hosts.ts";

export interface NearPlan {
  /** The far host's name and address. */
  far: string;
  address: string;
  folder: string;
  gateways: number;
  workers: number;
  rounds: number;
  seconds: number;
  /** The distances, in milliseconds there and back. */
  distancesMs: readonly number[];
  connections: readonly number[];
}

export interface HostsMeasurement {
  distanceMs: number;
  connections: number;
  measurement: Measurement;
}

const readyMsMax = 60_000;
const settledMsMax = 60_000;
const say = (line: string): void => console.error(line);

const plan = JSON.parse(process.argv[2] ?? "") as NearPlan;
await using stack = new AsyncDisposableStack();
const { address, folder } = plan;
const provider = stack.use(await startProvider());
const catalogDir = await writeCatalog(join(folder, "catalog"), provider);
const [program = "", ...words] = [...on(plan.far), process.execPath, "bench/hosts/far-host.ts", address, folder, catalogDir];
words.push(String(plan.workers));
const far = stack.use(new Child({ name: "far host", program, arguments: words }));
const control = `http://${address}:${await far.port()}`;
const { urls, pids } = (await (await fetch(control)).json()) as FarHost;
const { target, own, verifier } = await startGateways();
const generator = stack.use(new LoadGenerator());
const load = [...target, "--model", modelId(instantModel)];
await generator.load([...load, "--connections", "64", "--warm-up", "0", "--seconds", String(warmUpSeconds)]);
const found: HostsMeasurement[] = [];
for (let round = 1; round <= plan.rounds; round++)
  for (const distanceMs of round % 2 === 1 ? plan.distancesMs : plan.distancesMs.toReversed())
    await measureDistance(distanceMs, round);
await verifier.verify(say);
console.log(JSON.stringify(found));
await stack.disposeAsync();
process.exit();

async function startGateways() {
  const [port, operatorToken] = [await freePort(), randomBytes(24).toString("hex")];
  const environment = {
    ...urls,
    PLAINTEXT_HOSTS: address,
    CATALOG_DIR: catalogDir,
    DATA_DIR: join(folder, "near"),
    SECRETS_KEY: randomBytes(32).toString("base64"),
    OPERATOR_TOKEN: operatorToken,
    CONSOLE: "off",
  };
  const start = (name: string, file: string[], more: Record<string, string> = {}): Child =>
    stack.use(new Child({ name, arguments: file, environment: { ...environment, ...more } }));
  const prober = start("prober", ["workers/main.ts", "prober"]);
  const metricsPorts = await Promise.all(Array.from({ length: plan.gateways }, () => freePort()));
  const gateways = metricsPorts.map((metrics, n) =>
    start(`gateway ${n + 1}`, ["src/main.ts"], { PORT: String(port), METRICS_PORT: String(metrics) }),
  );
  const url = `http://127.0.0.1:${port}`;
  const verifier = new Verifier({ url, operatorToken, metricsPorts });
  for (const gateway of gateways) await gateway.ready(() => verifier.runnable([modelId(instantModel)]), readyMsMax);
  const keysFile = join(folder, "keys.txt");
  writeFileSync(keysFile, (await makeKeys(url, operatorToken)).map((key) => `${key}\n`).join(""), { mode: 0o600 });
  const own = Object.fromEntries([...gateways, prober].map((child) => [child.name, child.pid]));
  return { target: ["--url", url, "--keys", keysFile], own, verifier };
}

/** Each load begins with nothing left to settle of the one before. */
async function measureDistance(distanceMs: number, round: number): Promise<void> {
  await fetch(`${control}/?rtt=${distanceMs}`);
  const usage = () => Object.fromEntries(Object.entries({ ...own, ...pids }).map(([name, pid]) => [name, usageOf(pid)]));
  for (const connections of plan.connections) {
    const time = ["--warm-up", "0.5", "--seconds", String(plan.seconds), "--connections", String(connections)];
    const measurement = await measure({
      contender: "Weir",
      running: { target: load, usage },
      provider,
      load: `${distanceMs} ms, ${connections} in flight`,
      words: time,
      round,
      generator,
    });
    found.push({ distanceMs, connections, measurement });
    say(`round ${round}/${plan.rounds} ${progressLine(measurement)}`);
    await until(async () => (await verifier.unsettled()) === 0, settledMsMax);
  }
}
