/**
 * Bifrost's HTTP gateway, in Go, with the settings of https://docs.getbifrost.ai/deployment-guides/config-json. Open: no stores and no log.
 * Governed: virtual keys, each with a budget and a limit of requests, prices, and its request log in SQLite.
 */
import { randomUUID } from "node:crypto";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../../scripts/services/ports.ts";
import { budgetUsd, limitedModels, outputUsdPerToken, requestsAllowed, type Limit, type LimitedKey } from "../overspend/limit.ts";
import { dataFolder } from "../paths.ts";
import type { Contender, Running } from "./contender.ts";
import { answers, startOneProcess } from "./one-process.ts";
import { openaiTarget, warmUpSeconds, type Provider } from "./provider.ts";

export interface BifrostPlan {
  program: string;
  provider: Provider;
  governed: boolean;
}

const keysCount = 200;
const path = "/v1/chat/completions";
const readyMsMax = 120_000;

export function bifrost(plan: BifrostPlan): Contender {
  const name = `Bifrost ${plan.governed ? "governed" : "open"}`;
  return { name, warmUpSeconds, model, start: () => start(name, plan) };
}

/** It takes the name of the provider as a prefix. */
function model(upstream: string): string {
  return `openai/${upstream}`;
}

/** A virtual key, which the settings must have before the start. */
export interface VirtualKey {
  id: string;
  value: string;
  limit: Limit | null;
  /** Only with a limit: the model that it is for. */
  upstream: string | null;
}

async function start(name: string, { program, provider, governed }: BifrostPlan): Promise<Running> {
  const folder = join(dataFolder, name.replace(" ", "-").toLowerCase());
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await using stack = new AsyncDisposableStack();
  const prices = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => Response.json(priceSheet()) });
  stack.defer(() => void prices.stop(true));
  const keys = governed ? virtualKeys() : [];
  const settings = bifrostSettings({ provider: provider.port, prices: Number(prices.port), folder, keys });
  writeFileSync(join(folder, "config.json"), JSON.stringify(settings), { mode: 0o600 });
  const port = await freePort();
  const place = ["-host", "127.0.0.1", "-port", String(port), "-app-dir", folder];
  const running = stack.use(
    await startOneProcess({
      child: {
        name: name.toLowerCase(),
        program,
        arguments: [...place, "-log-level", "error"],
        environment: { BENCH_PROVIDER_KEY: "bench" },
      },
      readyMsMax,
      serves: () => answers(`http://127.0.0.1:${port}/health`),
      prepare: () => Promise.resolve(governed ? withKeys(port, keys, folder) : { target: openaiTarget(port) }),
    }),
  );
  const kept = stack.move();
  return { ...running, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

function withKeys(port: number, keys: VirtualKey[], folder: string): Pick<Running, "target" | "limited"> {
  const keysFile = join(folder, "keys.txt");
  const loaded = keys.filter(({ limit }) => limit === null);
  writeFileSync(keysFile, loaded.map(({ value }) => `${value}\n`).join(""), { mode: 0o600 });
  const url = `http://127.0.0.1:${port}`;
  return {
    target: ["--url", url, "--keys", keysFile, "--path", path],
    async limited(limit, upstream): Promise<LimitedKey> {
      const found = keys.find((key) => key.limit === limit && key.upstream === upstream);
      if (found === undefined) throw new Error(`Bifrost has no key with the limit "${limit}" for ${upstream}`);
      return { url: url + path, key: found.value, model: model(upstream) };
    },
  };
}

export function virtualKeys(): VirtualKey[] {
  const made = (id: string, limit: Limit | null, upstream: string | null) => ({
    id,
    value: `sk-bf-${randomUUID()}`,
    limit,
    upstream,
  });
  const loaded = Array.from({ length: keysCount }, (_, n) => made(`key-${n + 1}`, null, null));
  const limited = limitedModels.flatMap((upstream) =>
    (["budget", "rate"] as const).map((limit) => made(`${limit}-${upstream}`, limit, upstream)),
  );
  return [...loaded, ...limited];
}

/** In the form of LiteLLM's sheet, which it downloads by default. */
function priceSheet(): Record<string, unknown> {
  const price = { litellm_provider: "openai", mode: "chat", input_cost_per_token: 0, output_cost_per_token: outputUsdPerToken };
  return Object.fromEntries(limitedModels.map((upstream) => [upstream, price]));
}

/** Of https://docs.getbifrost.ai/providers/performance, for more than 5,000 requests a second. */
const sizes = { initial_pool_size: 10_000, concurrency: 1_000, buffer_size: 15_000 };
/** Limits that the load does not reach. */
const ample = { usd: 1_000_000, requests: 100_000_000 };

interface BifrostPlaces {
  provider: number;
  /** The port of the sheet of prices. */
  prices: number;
  folder: string;
  /** None: open. */
  keys: VirtualKey[];
}

export function bifrostSettings({ provider, prices, folder, keys }: BifrostPlaces) {
  const governed = keys.length > 0;
  const store = (file: string) =>
    governed ? { enabled: true, type: "sqlite", config: { path: join(folder, file) } } : { enabled: false };
  return {
    client: {
      initial_pool_size: sizes.initial_pool_size,
      drop_excess_requests: false,
      enable_logging: governed,
      enforce_auth_on_inference: governed,
    },
    providers: {
      openai: {
        keys: [{ name: "bench", value: "env.BENCH_PROVIDER_KEY", models: ["*"], weight: 1 }],
        network_config: { base_url: `http://127.0.0.1:${provider}`, default_request_timeout_in_seconds: 60 },
        concurrency_and_buffer_size: { concurrency: sizes.concurrency, buffer_size: sizes.buffer_size },
      },
    },
    framework: { pricing: { pricing_url: `http://127.0.0.1:${prices}/prices.json` } },
    config_store: store("config.db"),
    logs_store: store("logs.db"),
    ...(governed && { governance: governanceOf(keys) }),
  };
}

function governanceOf(keys: VirtualKey[]) {
  const provider = { provider: "openai", allowed_models: ["*"], key_ids: ["*"], weight: 1 };
  return {
    virtual_keys: keys.map(({ id, value }) => {
      return { id, name: id, value, is_active: true, rate_limit_id: `rate-of-${id}`, provider_configs: [provider] };
    }),
    budgets: keys.map(({ id, limit }) => {
      const max_limit = limit === "budget" ? budgetUsd : ample.usd;
      return { id: `budget-of-${id}`, max_limit, reset_duration: "1M", virtual_key_id: id };
    }),
    rate_limits: keys.map(({ id, limit }) => {
      const request_max_limit = limit === "rate" ? requestsAllowed : ample.requests;
      return { id: `rate-of-${id}`, request_max_limit, request_reset_duration: "1m" };
    }),
  };
}
