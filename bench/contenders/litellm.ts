/**
 * LiteLLM's proxy, if a `litellm` command is on PATH, with its database and spend tracking, and the production settings of
 * https://docs.litellm.ai/docs/proxy/prod. Settings that are not environment variables are in bench/peers/litellm.
 */
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { freePort } from "../../scripts/services/free-port.ts";
import { root } from "../paths.ts";
import { Child } from "../processes/child.ts";
import { usageOf } from "../processes/usage.ts";
import type { Contender, Running } from "./contender.ts";
import { instantModel, sameName, openaiTarget, warmUpSeconds, type Provider } from "./provider.ts";

export interface LitellmPlan {
  provider: Provider;
  /** The URL of its own database, empty or from an earlier start. */
  databaseUrl: string;
}

const program = "litellm";
/** Its first start creates its tables. */
const readyMsMax = 240_000;
/** Uses the prices in its package; otherwise it would download them at each start. */
const offline = { LITELLM_LOCAL_MODEL_COST_MAP: "True" };
const production = { LITELLM_MODE: "PRODUCTION", LITELLM_LOG: "ERROR" };

export function litellm(plan: LitellmPlan): Contender {
  return { name: "LiteLLM", warmUpSeconds, model: sameName, start: () => startLitellm(plan) };
}

/** @returns null when it is not installed */
export function litellmVersion(): string | null {
  const { status, stdout } = spawnSync(program, ["--version"], { encoding: "utf8", env: { ...process.env, ...offline } });
  return status === 0 ? (/\d+\.\d+\.\d+\S*/.exec(stdout)?.[0] ?? "of unknown version") : null;
}

async function startLitellm({ provider, databaseUrl }: LitellmPlan): Promise<Running> {
  const port = await freePort();
  const masterKey = `sk-${randomBytes(24).toString("hex")}`;
  const child = new Child({
    name: "litellm",
    program,
    arguments: ["--host", "127.0.0.1", "--port", String(port), "--config", join(root, "bench/peers/litellm/config.yaml")],
    environment: {
      ...offline,
      ...production,
      DATABASE_URL: databaseUrl,
      LITELLM_MASTER_KEY: masterKey,
      LITELLM_SALT_KEY: "sk-bench-salt",
      // One worker for each core, as that page recommends without another scaler.
      NUM_WORKERS: String(availableParallelism()),
      BENCH_PROVIDER_URL: `http://127.0.0.1:${provider.port}/v1`,
    },
  });
  try {
    await child.ready(() => isConnected(port), readyMsMax);
    const key = await makeKey(port, masterKey);
    return {
      target: openaiTarget(port, key),
      usage: () => ({ litellm: usageOf(child.pid) }),
      [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
    };
  } catch (error) {
    await child[Symbol.asyncDispose]();
    throw error;
  }
}

async function isConnected(port: number): Promise<boolean> {
  const response = await fetch(`http://127.0.0.1:${port}/health/readiness`).catch(() => null);
  if (response?.status !== 200) return false;
  const { db } = (await response.json()) as { db?: string };
  return db === "connected";
}

/** Creates a virtual key with a budget, so that its spend is tracked. */
async function makeKey(port: number, masterKey: string): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/key/generate`, {
    method: "POST",
    headers: { authorization: `Bearer ${masterKey}`, "content-type": "application/json" },
    body: JSON.stringify({ models: [instantModel], max_budget: 1_000_000 }),
  });
  const { key } = (await response.json()) as { key?: string };
  if (key === undefined) throw new Error(`LiteLLM created no key: it answered ${response.status}`);
  return key;
}
