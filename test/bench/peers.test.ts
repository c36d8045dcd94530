import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { bifrostSettings, virtualKeys } from "../../bench/contenders/bifrost.ts";
import { busbarSettings } from "../../bench/contenders/busbar.ts";
import { nginxSettings } from "../../bench/contenders/nginx.ts";
import { missingLine, placesOf } from "../../bench/contenders/peer-program.ts";
import { writeCatalog } from "../../bench/contenders/weir.ts";
import { limitedModelId } from "../../bench/contenders/weir-limited.ts";
import {
  budgetUsd,
  instantLimited,
  limitedModels,
  outputTokens,
  outputUsdPerToken,
  requestsAllowed,
} from "../../bench/overspend/limit.ts";
import { passed, sendAtOnce } from "../../bench/overspend/send.ts";
import { failuresOf } from "../../bench/report/failures.ts";
import { pages, withSections } from "../../bench/report/publish.ts";
import { peersSections, ratiosOf } from "../../bench/report/sections/peers.ts";
import { sectionsOf } from "../../bench/report/sections/sections.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { peersRun, slice, wholeFacts } from "./whole-facts.ts";

function serving(fetch: () => Promise<Response>) {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch });
  return { port: server.port, [Symbol.asyncDispose]: () => server.stop(true) };
}

describe("the program of a peer", () => {
  const wanted = { peer: "Busbar", program: "busbar" };

  test("is where the variable says, and nowhere else", () => {
    expect(placesOf(wanted, { BENCH_BUSBAR: "/opt/busbar", PATH: "/bin" })).toEqual(["/opt/busbar"]);
  });

  test("is otherwise in bench/.peers or on PATH", () => {
    const [first, second] = placesOf({ peer: "Shell", program: "sh" }, { PATH: "/bin" });
    expect([first, second]).toEqual([expect.stringMatching(/bench\/\.peers\/shell\/sh$/), "/bin/sh"]);
    expect(placesOf(wanted, { PATH: "/nowhere" })).toHaveLength(1);
  });

  test("is asked for by its three places when it is missing", () => {
    expect(missingLine(wanted)).toBe("Busbar was skipped: no busbar is on PATH or in .peers/busbar, and BENCH_BUSBAR names none");
  });
});

describe("a budget of the overspend test pays for exactly the requests that it allows", () => {
  const requestUsd = outputTokens * outputUsdPerToken;

  test("in dollars", () => {
    expect(budgetUsd / requestUsd).toBeCloseTo(requestsAllowed, 6);
  });

  test("at Busbar, which counts cents of its rate card", () => {
    const { config } = busbarSettings({ port: 1, adminPort: 2, provider: 3, governed: true, folder: "/f", plugins: "/p" });
    const { groups, rate_card: card } = config as unknown as {
      groups: Record<string, { limits: { budget?: number; requests?: number; per: string }[] }>;
      rate_card: Record<string, { input_utok: number; output_utok: number }>;
    };
    const { input_utok, output_utok } = card[instantLimited] ?? { input_utok: 1, output_utok: 0 };
    expect(groups[`budget-${instantLimited}`]?.limits).toEqual([
      { budget: (requestsAllowed * outputTokens * output_utok) / 10_000, per: "month" },
    ]);
    expect(groups[`rate-${instantLimited}`]?.limits).toEqual([{ requests: requestsAllowed, per: "minute" }]);
    expect(input_utok).toBe(0);
  });

  test("at Bifrost, on keys that the load does not use", () => {
    const keys = virtualKeys();
    const { governance } = bifrostSettings({ provider: 1, prices: 2, folder: "/f", keys });
    const tight = governance?.budgets
      .filter(({ max_limit }) => max_limit === budgetUsd)
      .map(({ virtual_key_id }) => virtual_key_id);
    expect(tight).toEqual(limitedModels.map((model) => `budget-${model}`));
    expect(keys.filter(({ limit }) => limit === null)).toHaveLength(200);
  });

  test("at Weir, whose catalog has models with no price for input", async () => {
    await using folder = await temporaryFolder();
    await writeCatalog(folder.path, { port: 1 });
    const models = JSON.parse(readFileSync(join(folder.path, "models/bench.json"), "utf8")) as Record<string, unknown>[];
    for (const upstream of limitedModels)
      expect(models.find(({ id }) => id === limitedModelId(upstream))).toMatchObject({
        upstream_model: upstream,
        prices_per_1m_usd: { input: "0", output: "2.00" },
      });
  });
});

test("requests of the overspend test are all in flight before the first answer, and are counted by status", async () => {
  const allArrived = Promise.withResolvers<void>();
  let arrived = 0;
  await using server = serving(async () => {
    const place = ++arrived;
    if (arrived === 30) allArrived.resolve();
    await allArrived.promise;
    return new Response("streamed or not", { status: place <= 20 ? 200 : 429 });
  });
  const key = { url: `http://127.0.0.1:${server.port}/v1/chat/completions`, key: "k", model: "m" };
  const statuses = await sendAtOnce(key, 30, true);
  expect(statuses).toEqual({ 200: 20, 429: 10 });
  expect(passed(statuses)).toBe(20);
});

describe("a peer without governance", () => {
  test("has neither keys nor stores", () => {
    const { config } = busbarSettings({ port: 1, adminPort: 2, provider: 3, governed: false, folder: "/f", plugins: "/p" });
    expect(config).toMatchObject({ auth: { chain: [] }, listen: "127.0.0.1:1", admin_listen: "127.0.0.1:2" });
    expect(config).not.toHaveProperty("store");
    const bifrost = bifrostSettings({ provider: 1, prices: 2, folder: "/f", keys: [] });
    expect(bifrost).toMatchObject({ config_store: { enabled: false }, logs_store: { enabled: false } });
    expect(bifrost).not.toHaveProperty("governance");
  });

  test("nginx keeps connections on both sides and holds no event back", () => {
    const settings = nginxSettings({ port: 80, provider: 81, workers: 2 });
    for (const line of ["listen 127.0.0.1:80;", "server 127.0.0.1:81;", "keepalive 256;", "proxy_buffering off;"])
      expect(settings).toContain(line);
  });
});

describe("the report about peers", () => {
  test("has their speed, ratios within a sweep, and what passed a limit", () => {
    const text = peersSections(peersRun())
      .map((section) => section.text)
      .join("\n");
    expect(text).toContain("| Busbar governed | 2,667 / 2,667 / 2,667 | 0 / 0 | 2,667 | 30 | 1 / 2 | 0 |");
    expect(text).toContain("| nginx | 2 (2 to 2) | 2 (2 to 2) | 2 (2 to 2) | 2 (2 to 2) |");
    expect(text).toContain("| Weir | 20, then 0 | 20, then 0 | 20 |");
    expect(text).toContain("| Busbar governed | 130, then 0 | 130, then 0 | 130, then 0 |");
  });

  test("compares a peer only with the Weir of the same sweep", () => {
    const all = [
      slice("nginx", "1 connections", 1, 4_000),
      slice("Weir hot", "1 connections", 1, 1_000),
      slice("nginx", "1 connections", 2, 900),
      slice("Weir hot", "1 connections", 2, 300),
      slice("nginx", "1 connections", 3, 900),
    ];
    expect(ratiosOf(all, "nginx", "1 connections")).toEqual([4, 3]);
  });

  test("is invalid when Weir let more pass than a limit allows, at once or later", () => {
    const facts = wholeFacts();
    expect(failuresOf(facts)).toEqual([]);
    facts.peers?.overspend.push({ contender: "Weir", case: "budget", first: { 200: 20, 402: 180 }, again: { 200: 1, 402: 199 } });
    expect(failuresOf(facts)).toEqual([expect.stringContaining("peers: more than 20 passed, budget")]);
  });

  test("stays as it is when a whole run had no peers", () => {
    const { peers: _peers, ...without } = wholeFacts();
    for (const { path, plots, shows } of pages) {
      const document = readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
      expect(() => withSections(document, sectionsOf(without).filter(shows), plots)).not.toThrow();
    }
  });
});
