/**
 * LiteLLM's proxy with the production settings of https://docs.litellm.ai/docs/proxy/prod. Governed: with its database, virtual keys and
 * spend tracking. Open: a master key alone. Settings that are not environment variables are in bench/peers/litellm.
 */
import { randomBytes } from "node:crypto";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { freePort } from "../../scripts/services/ports.ts";
import { root } from "../paths.ts";
import { budgetUsd, limitedModels, requestsAllowed, type Limit, type LimitedKey } from "../overspend/limit.ts";
import type { Contender, Running } from "./contender.ts";
import { answers, startOneProcess } from "./one-process.ts";
import { versionOf } from "./peer-program.ts";
import { sameName, openaiTarget, type Provider } from "./provider.ts";

export interface LitellmPlan {
  program: string;
  provider: Provider;
  /** The URL of its own database, empty or from an earlier start; null: open. */
  databaseUrl: string | null;
}

/** Its first start creates its tables. */
const readyMsMax = 240_000;
/** Uses the prices in its package; otherwise it would download them at each start. */
const offline = { LITELLM_LOCAL_MODEL_COST_MAP: "True" };
const production = { LITELLM_MODE: "PRODUCTION", LITELLM_LOG: "ERROR" };
/** Longer, since it answers fewer requests. */
const litellmWarmUpSeconds = 10;
/** More than the load spends. */
const ampleUsd = 1_000_000;

export function litellm(plan: LitellmPlan): Contender {
  const name = `LiteLLM ${plan.databaseUrl === null ? "open" : "governed"}`;
  return { name, warmUpSeconds: litellmWarmUpSeconds, model: sameName, start: () => start(name, plan) };
}

export function litellmVersion(program: string): string {
  return versionOf(program, ["--version"], offline);
}

async function start(name: string, { program, provider, databaseUrl }: LitellmPlan): Promise<Running> {
  const port = await freePort();
  const masterKey = `sk-${randomBytes(24).toString("hex")}`;
  const governed = databaseUrl !== null;
  const settings = join(root, `bench/peers/litellm/${governed ? "config" : "open"}.yaml`);
  return startOneProcess({
    child: {
      name: name.toLowerCase(),
      program,
      arguments: ["--host", "127.0.0.1", "--port", String(port), "--config", settings],
      environment: {
        ...offline,
        ...production,
        ...(governed && { DATABASE_URL: databaseUrl, LITELLM_SALT_KEY: "sk-bench-salt" }),
        LITELLM_MASTER_KEY: masterKey,
        // One worker for each core, as that page recommends without another scaler.
        NUM_WORKERS: String(availableParallelism()),
        BENCH_PROVIDER_URL: `http://127.0.0.1:${provider.port}/v1`,
      },
    },
    serves: () => (governed ? isConnected(port) : answers(`http://127.0.0.1:${port}/health/liveliness`)),
    readyMsMax,
    async prepare() {
      if (!governed) return { target: openaiTarget(port, masterKey) };
      const make = (limits: Record<string, number>) => makeKey({ port, masterKey, limits });
      return {
        target: openaiTarget(port, await make({ max_budget: ampleUsd })),
        limited: async (limit, upstream) => limitedKey(port, await make(limitsOf(limit)), upstream),
      };
    },
  });
}

function limitsOf(limit: Limit): Record<string, number> {
  return limit === "budget" ? { max_budget: budgetUsd } : { rpm_limit: requestsAllowed, max_budget: ampleUsd };
}

function limitedKey(port: number, key: string, model: string): LimitedKey {
  return { url: `http://127.0.0.1:${port}/v1/chat/completions`, key, model };
}

async function isConnected(port: number): Promise<boolean> {
  const response = await fetch(`http://127.0.0.1:${port}/health/readiness`).catch(() => null);
  if (response?.status !== 200) return false;
  const { db } = (await response.json()) as { db?: string };
  return db === "connected";
}

interface KeyPlan {
  port: number;
  masterKey: string;
  limits: Record<string, number>;
}

/** Creates a virtual key with a budget, so that its spend is tracked. */
async function makeKey({ port, masterKey, limits }: KeyPlan): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/key/generate`, {
    method: "POST",
    headers: { authorization: `Bearer ${masterKey}`, "content-type": "application/json" },
    body: JSON.stringify({ models: limitedModels, ...limits }),
  });
  const { key } = (await response.json()) as { key?: string };
  if (key === undefined) throw new Error(`LiteLLM created no key: it answered ${response.status}`);
  return key;
}
