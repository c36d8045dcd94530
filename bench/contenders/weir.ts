/** Weir as a fleet on this machine: gateways, admission workers, metering and prober as processes, with all features. */
import { existsSync, rmSync } from "node:fs";
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { randomBytes } from "node:crypto";
import type { Services } from "../../scripts/services.ts";
import { freePort } from "../../scripts/services/ports.ts";
import type { RedisCluster } from "../../scripts/services/redis.ts";
import { shareCore } from "../../scripts/services/share-core.ts";
import { agentApis, type AgentApi } from "../load/agent-body.ts";
import { keysFile } from "../data/prepare.ts";
import type { Population } from "../data/plan.ts";
import { dataFolder, root } from "../paths.ts";
import { Child } from "../processes/child.ts";
import { usageOf } from "../processes/usage.ts";
import { limitedModels, outputUsdPerMillion } from "../overspend/limit.ts";
import { pause } from "../until.ts";
import type { Contender, Running, Subject } from "./contender.ts";
import type { Installation } from "./installation.ts";
import { agentModel, agentPaths, embedModel, instantModel, pacedModel, warmUpSeconds, type Provider } from "./provider.ts";
import { Verifier } from "./verifier.ts";
import { limitedKey, limitedModelId } from "./weir-limited.ts";

export interface FleetPlan {
  provider: Provider;
  services: Services;
  /** The URL of the run's database. */
  databaseUrl: string;
}

export interface WeirPlan extends FleetPlan {
  gateways: number;
  workers: number;
  /** The number of metering processes; default: one. */
  metering?: number;
  /** The Redis Cluster of the counters; default: the Redis of `services`. */
  cluster?: Pick<RedisCluster, "url" | "masters">;
  /** Whether the hot workspace stores prompts and answers; default: no. */
  storePrompts?: boolean;
  /** Whether the hot workspace has embeddings; default: no. */
  embeddings?: boolean;
  /** Whether gateways serve the Console, with the whole catalog; default: no. */
  console?: boolean;
}

/** Longer, since each of 10,000 keys is loaded into the counters at its first use. */
const spreadWarmUpSeconds = 8;
const readyMsMax = 60_000;
const settledMsMax = 120_000;

/** A fleet for the keys of one population. */
export function weir(population: Population["name"], plan: WeirPlan): Contender {
  return {
    ...subjectOf(population),
    agentModel: agentModelId,
    async start() {
      const { targetOf, ...fleet } = await startFleet(plan);
      const agentTarget = (api: AgentApi) => [...targetOf(population), "--path", `/gpt${agentPaths[api]}`];
      return { ...fleet, target: targetOf(population), agentTarget };
    },
  };
}

/** One fleet for the keys of several populations. */
export function sharedWeir(names: Population["name"][], plan: WeirPlan): Installation {
  return {
    name: "Weir",
    async start() {
      const { targetOf, ...fleet } = await startFleet(plan);
      return { ...fleet, subjects: names.map((name) => ({ subject: subjectOf(name), target: targetOf(name) })) };
    },
  };
}

function subjectOf(population: Population["name"]): Subject {
  return {
    name: `Weir ${population}`,
    warmUpSeconds: population === "spread" ? spreadWarmUpSeconds : warmUpSeconds,
    model: modelId,
  };
}

export interface RunningFleet extends Omit<Running, "target"> {
  targetOf(population: Population["name"]): Running["target"];
  url: string;
  operatorToken: string;
}

export async function startFleet(plan: WeirPlan): Promise<RunningFleet> {
  const folder = join(dataFolder, "run");
  rmSync(folder, { recursive: true, force: true });
  const port = await freePort();
  const operatorToken = randomBytes(24).toString("hex");
  const console = plan.console === true;
  if (console) await cp(join(root, "catalog-data"), join(folder, "catalog"), { recursive: true });
  const environment = {
    ...(await environmentOf(plan, folder)),
    ...(plan.cluster && { REDIS_URL: plan.cluster.url }),
    OPERATOR_TOKEN: operatorToken,
    CONSOLE: console ? "on" : "off",
  };
  await using stack = new AsyncDisposableStack();
  const start = (name: string, words: string[], more: Record<string, string> = {}): Child =>
    stack.use(new Child({ name, arguments: words, environment: { ...environment, ...more } }));
  // They are disposed in the opposite order: callers end before the workers that they call, and metering last.
  const metering = names("metering", plan.metering ?? 1).map((name) => start(name, ["workers/main.ts", "metering"]));
  const prober = start("prober", ["workers/main.ts", "prober"]);
  const workers = names("admission", plan.workers).map((name) => start(name, ["workers/main.ts", "admission"]));
  const redis = redisOf(plan);
  shareCore([plan.services.nats, ...redis, ...workers].map(({ pid }) => pid));
  const metricsPorts = await Promise.all(Array.from({ length: plan.gateways }, () => freePort()));
  const gateways = names("gateway", plan.gateways).map((name, n) =>
    start(name, ["src/main.ts"], { PORT: String(port), METRICS_PORT: String(metricsPorts[n]) }),
  );
  const url = `http://127.0.0.1:${port}`;
  const verifier = new Verifier({ url, operatorToken, metricsPorts });
  const called = [...[instantModel, pacedModel].map(modelId), ...agentApis.map(agentModelId)];
  for (const gateway of gateways) await gateway.ready(() => verifier.runnable(called), readyMsMax);
  if (plan.storePrompts !== undefined) await verifier.changeHot({ prompt_storage: plan.storePrompts });
  if (plan.embeddings === true) {
    await gateways[0]?.ready(() => verifier.runnable([modelId(embedModel)]), readyMsMax);
    await verifier.changeHot({ early_access: ["embeddings"] });
  }
  const { nats, postgres } = plan.services;
  const [gateway, ...others] = gateways;
  const kept = stack.move();
  return {
    url,
    operatorToken,
    targetOf: (population) => ["--url", url, "--keys", keysFile(population)],
    usage: () =>
      Object.fromEntries(
        [...gateways, ...workers, ...metering, prober, nats, ...redis, postgres].map(({ name, pid }) => [name, usageOf(pid)]),
      ),
    ...(gateway !== undefined && others.length === 0 && { front: gateway.pid }),
    verify: (say) => verifier.verify(say),
    unsettled: () => verifier.unsettled(),
    settled: () => settled(verifier),
    limited: (limit, upstream) => limitedKey({ url, operatorToken, limit, upstream }),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** The servers of the counters, by name. */
function redisOf({ cluster, services }: WeirPlan): { name: string; pid: number }[] {
  if (cluster === undefined) return [services.redis];
  return cluster.masters.map(({ server: { name, pid } }, place) => ({ name: `${name} ${place + 1}`, pid }));
}

function names(kind: string, count: number): string[] {
  return count === 1 ? [kind] : Array.from({ length: count }, (_, n) => `${kind} ${n + 1}`);
}

async function settled(verifier: Verifier): Promise<number> {
  const startedAt = performance.now();
  while ((await verifier.unsettled()) > 0) {
    if (performance.now() - startedAt > settledMsMax) throw new Error("The ledger did not confirm everything in two minutes");
    await pause(20);
  }
  return Date.now();
}

/** The catalog's id of a model of the provider. */
export function modelId(upstream: string): string {
  return `bench/${upstream}`;
}

/** The catalog's id of the model that its provider serves on this API. */
function agentModelId(api: AgentApi): string {
  return `${modelId(agentModel)}-${api}`;
}

/** An API's name as a wire format. */
const agentFormats: Record<AgentApi, string> = { chat: "openai", messages: "anthropic", responses: "openai-responses" };

/** The environment of each of its processes. */
export async function environmentOf(
  { provider, services, databaseUrl }: FleetPlan,
  folder: string,
): Promise<Record<string, string>> {
  return {
    ...services.urls,
    DATABASE_URL: databaseUrl,
    DATA_DIR: folder,
    CATALOG_DIR: await writeCatalog(join(folder, "catalog"), provider),
    SECRETS_KEY: randomBytes(32).toString("base64"),
  };
}

/** @returns the folder, with the models of the provider */
export async function writeCatalog(folder: string, { port }: Pick<Provider, "port">): Promise<string> {
  const models = [instantModel, pacedModel].map((upstream) => chatModel({ id: modelId(upstream), upstream, inputPrice: "1.00" }));
  const limited = limitedModels.map((upstream) => chatModel({ id: limitedModelId(upstream), upstream, inputPrice: "0" }));
  const agents = agentApis.map((api) => ({
    ...chatModel({ id: agentModelId(api), upstream: agentModel, inputPrice: "1.00" }),
    format: agentFormats[api],
    context_length: 400_000,
    supports: ["tools"],
  }));
  const embeddings = {
    id: modelId(embedModel),
    name: embedModel,
    kind: "embeddings",
    context_length: 8_191,
    max_output_tokens: null,
    upstream_model: embedModel,
    prices_per_1m_usd: { input: "0.02", output: "0" },
    listed_as: "available",
    published: true,
    supports: [],
    dimensions: { default: 1_536 },
    max_inputs: 2_048,
  };
  const provider = {
    id: "bench",
    name: "The bench's mock provider",
    format: "openai",
    base_url: `http://127.0.0.1:${port}/v1`,
    key_env: null,
    cancel_stops_billing: true,
    zero_data_retention: false,
    terms_checked: true,
    subprocessor_listed: true,
    // An agent's request to Messages goes on to an API that is Anthropic's own without being converted.
    native: true,
  };
  await mkdir(join(folder, "models"), { recursive: true });
  await writeFile(join(folder, "models/bench.json"), JSON.stringify([...models, ...limited, ...agents, embeddings]));
  await writeFile(join(folder, "providers.json"), JSON.stringify([...(await providersIn(folder)), provider]));
  return folder;
}

function chatModel({ id, upstream, inputPrice }: { id: string; upstream: string; inputPrice: string }) {
  return {
    id,
    name: id,
    kind: "chat",
    context_length: 128_000,
    max_output_tokens: 4_096,
    upstream_model: upstream,
    prices_per_1m_usd: { input: inputPrice, output: outputUsdPerMillion.toFixed(2) },
    listed_as: "available",
    published: true,
    supports: [],
  };
}

/** None, unless the folder has a catalog. */
async function providersIn(folder: string): Promise<unknown[]> {
  const path = join(folder, "providers.json");
  return existsSync(path) ? (JSON.parse(await readFile(path, "utf8")) as unknown[]) : [];
}
