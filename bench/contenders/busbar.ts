/**
 * Busbar, a gateway in Rust, with the settings of its docs/configuration.md. Open: no keys. Governed: signed keys, each in a group with
 * requests a minute and a budget a month, prices, and usage in its SQLite store, whose plugin is in a folder `plugins` beside it.
 */
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { freePort } from "../../scripts/services/ports.ts";
import { limitedModels, outputTokens, requestsAllowed, type Limit } from "../overspend/limit.ts";
import { dataFolder } from "../paths.ts";
import type { Contender, Running } from "./contender.ts";
import { answers, startOneProcess } from "./one-process.ts";
import { openaiTarget, sameName, warmUpSeconds, type Provider } from "./provider.ts";

export interface BusbarPlan {
  program: string;
  provider: Provider;
  governed: boolean;
}

/** Its admin API makes at most 60 keys a minute, and the overspend test needs some. */
const keysCount = 50;

/** Beside the program; it holds the tarball of the store's plugin. */
function pluginsFolder(program: string): string {
  return join(dirname(program), "plugins");
}

export function hasStorePlugin(program: string): boolean {
  const folder = pluginsFolder(program);
  return existsSync(folder) && readdirSync(folder).some((name) => name.endsWith(".tar.gz"));
}

export function busbar(plan: BusbarPlan): Contender {
  const name = `Busbar ${plan.governed ? "governed" : "open"}`;
  return { name, warmUpSeconds, model: sameName, start: () => start(name, plan) };
}

async function start(name: string, { program, provider, governed }: BusbarPlan): Promise<Running> {
  const folder = join(dataFolder, name.replace(" ", "-").toLowerCase());
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const [port, adminPort] = [await freePort(), await freePort()];
  const settings = busbarSettings({
    port,
    adminPort,
    provider: provider.port,
    governed,
    folder,
    plugins: pluginsFolder(program),
  });
  // JSON is YAML.
  writeFileSync(join(folder, "config.yaml"), JSON.stringify(settings.config));
  writeFileSync(join(folder, "providers.yaml"), JSON.stringify(settings.catalog));
  const token = randomBytes(24).toString("hex");
  const signingKey = governed ? spawnSync(program, ["--generate-signing-key"], { encoding: "utf8" }).stdout.trim() : "";
  const secrets = { BENCH_PROVIDER_KEY: "bench", BENCH_ADMIN_TOKEN: token, BENCH_SIGNING_KEY: signingKey };
  const admin = `http://127.0.0.1:${adminPort}/api/v1/admin`;
  return startOneProcess({
    child: {
      name: name.toLowerCase(),
      program,
      arguments: [],
      environment: { BUSBAR_CONFIG: join(folder, "config.yaml"), RUST_LOG: "warn", ...secrets },
    },
    serves: () => answers(`http://127.0.0.1:${port}/healthz`),
    prepare: () => (governed ? prepareKeys({ admin, token, port, folder }) : Promise.resolve({ target: openaiTarget(port) })),
  });
}

interface KeyPlan {
  admin: string;
  token: string;
  port: number;
  folder: string;
}

async function prepareKeys({ admin, token, port, folder }: KeyPlan): Promise<Pick<Running, "target" | "limited">> {
  const mint = async (group: string): Promise<string> => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const body = JSON.stringify({ name: group, group });
    const response = await fetch(`${admin}/keys`, { method: "POST", headers, body });
    if (!response.ok) throw new Error(`Busbar made no key: ${response.status} ${await response.text()}`);
    return ((await response.json()) as { token: string }).token;
  };
  const keys: string[] = [];
  for (let n = 1; n <= keysCount; n++) keys.push(await mint(groupOf(n)));
  const keysFile = join(folder, "keys.txt");
  writeFileSync(keysFile, keys.map((key) => `${key}\n`).join(""), { mode: 0o600 });
  const url = `http://127.0.0.1:${port}`;
  return {
    target: ["--url", url, "--keys", keysFile, "--path", "/v1/chat/completions"],
    limited: async (limit, upstream) => ({
      url: `${url}/v1/chat/completions`,
      key: await mint(limitedGroup(limit, upstream)),
      model: upstream,
    }),
  };
}

function groupOf(n: number): string {
  return `group-${n}`;
}

/** A group of its own for each test, so that none begins with what another one spent. */
function limitedGroup(limit: Limit, upstream: string): string {
  return `${limit}-${upstream}`;
}

interface BusbarPlaces {
  port: number;
  adminPort: number;
  provider: number;
  governed: boolean;
  folder: string;
  plugins: string;
}

/** A request costs a cent of its abstract unit, so that a budget in cents is a number of requests. */
const microPerCent = 10_000;
/** Limits that the load does not reach. */
const ample = [
  { requests: 100_000_000, per: "minute" },
  { budget: 1_000_000_000, per: "month" },
];

export function busbarSettings({ port, adminPort, provider, governed, folder, plugins }: BusbarPlaces) {
  const base = {
    listen: `127.0.0.1:${port}`,
    admin_listen: `127.0.0.1:${adminPort}`,
    "identity-providers": { "admin-tokens": { module: "admin-tokens", token: { env: "BENCH_ADMIN_TOKEN" } } },
    providers: { bench: { api_key: { env: "BENCH_PROVIDER_KEY" } } },
    models: forEachModel({ provider: "bench" }),
    config: { locked: true },
  };
  const governance = {
    auth: { chain: ["keys"], admin_auth: ["admin-tokens"], signing_key: { env: "BENCH_SIGNING_KEY" } },
    groups: busbarGroups(),
    rate_card: forEachModel({ input_utok: 0, output_utok: microPerCent / outputTokens }),
    plugins: { enabled: true, dir: plugins, trust: { allow_unsigned: true } },
    store: { module: "sqlite", settings: { db_path: join(folder, "governance.db") } },
  };
  const open = { auth: { chain: [], admin_auth: ["admin-tokens"] } };
  return {
    config: { ...base, ...(governed ? governance : open) },
    catalog: { bench: { protocol: "openai", base_url: `http://127.0.0.1:${provider}`, error_map: {} } },
  };
}

function busbarGroups(): Record<string, { limits: unknown[] }> {
  const loaded = Array.from({ length: keysCount }, (_, n) => [groupOf(n + 1), { limits: ample }] as const);
  const limited = limitedModels.flatMap((model) => [
    [limitedGroup("budget", model), { limits: [{ budget: requestsAllowed, per: "month" }] }] as const,
    [limitedGroup("rate", model), { limits: [{ requests: requestsAllowed, per: "minute" }] }] as const,
  ]);
  return Object.fromEntries([...loaded, ...limited]);
}

function forEachModel<T>(value: T): Record<string, T> {
  return Object.fromEntries(limitedModels.map((model) => [model, value]));
}
