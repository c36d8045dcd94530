/** Settles a request: charge, entry, totals, log row, and the release of its hold. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { findServers } from "../../scripts/services/find-servers.ts";
import { startServices } from "../../scripts/services.ts";
import { openDistributedCounters } from "../../src/backing/redis/counters.ts";
import { openPostgres } from "../../src/backing/postgres/postgres.ts";
import type { Settlement } from "../../src/gateway/journal/settlement.ts";
import { monthOf, systemClock } from "../../src/kernel/clock.ts";
import { hashKey, newGenerationId, newRequestId } from "../../src/kernel/ids.ts";
import { silentLog } from "../../src/kernel/log.ts";
import { Secret } from "../../src/kernel/secret.ts";
import { findKeyRecords } from "../../src/accounts/keys/find.ts";
import type { KeyRecord } from "../../src/accounts/keys/record.ts";
import { oncePerGeneration, settle } from "../../src/gateway/metering/settle.ts";
import { settlementStore } from "../../src/gateway/metering/store.ts";
import type { Population } from "../data/plan.ts";
import { freshCopy, keysFile } from "../data/prepare.ts";
import { dataFolder } from "../paths.ts";
import type { Case, Microbenchmark } from "./benchmark.ts";

const counts = [1, 200, 1_000];
const populations: Population["name"][] = ["hot", "spread"];

export const settleRows: Microbenchmark = {
  unit: "row",
  async prepare(stack) {
    const servers = await findServers();
    if ("missing" in servers) throw new Error(`Cannot start the servers: ${servers.missing}`);
    const { urls } = stack.use(await startServices({ servers, folder: join(dataFolder, "services"), durable: true }));
    const url = await freshCopy(urls.DATABASE_URL, (line) => console.error(line));
    const { sql } = stack.use(openPostgres({ url: new Secret(url), applicationName: "bench", clock: systemClock }));
    const counters = stack.use(
      await openDistributedCounters({ url: new Secret(urls.REDIS_URL), clock: systemClock, log: silentLog }),
    );
    const parts = { store: settlementStore(sql), counters };
    const cases = populations.map(async (name): Promise<Case[]> => {
      const keys = readFileSync(keysFile(name), "utf8").trim().split("\n");
      const records = [...(await findKeyRecords(keys.map(hashKey), sql)).values()];
      return counts.map((count) => ({
        name: `${name}, ${count} in a transaction`,
        units: count,
        call: () => settle(settlementsOf(records, count), parts),
      }));
    });
    return (await Promise.all(cases)).flat();
  },
};

let turn = 0;

function settlementsOf(records: KeyRecord[], count: number): Settlement[] {
  return oncePerGeneration(
    Array.from({ length: count }, () => {
      const { workspace, id: key } = records[turn++ % records.length] ?? { workspace: "", id: "" };
      return settlementOf(workspace, key);
    }),
  );
}

export function settlementOf(workspace: string, key: string): Settlement {
  const admittedAt = Date.now();
  return {
    generation: newGenerationId(admittedAt),
    request: newRequestId(admittedAt),
    workspace,
    key,
    month: monthOf(admittedAt),
    outcome: "settled",
    reserved: "1000000",
    admittedAt,
    model: "bench/instant-16",
    provider: "bench",
    prices: { input: "1000000", output: "2000000", cacheRead: "1000000", cacheWrite: "1000000" },
    usage: { promptTokens: 20, cachedTokens: 0, cacheWriteTokens: 0, completionTokens: 16, reasoningTokens: 0 },
    usageEstimated: false,
    status: 200,
    code: null,
    streamed: false,
    firstTokenMs: null,
    durationMs: 3,
  };
}
