/** Check 1: the hash of a key, the gateway's cache, and on a miss the worker's query of the database. */
import { join } from "node:path";
import { readFileSync } from "node:fs";
import { findServers } from "../../scripts/services/find-servers.ts";
import { startPostgres } from "../../scripts/services/postgres.ts";
import { GatewayKeyCache } from "../../src/gateway/admission/key-cache.ts";
import { recordOnBus } from "../../src/gateway/admission/message.ts";
import { openPostgres } from "../../src/backing/postgres/postgres.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { hashKey } from "../../src/kernel/ids.ts";
import { Secret } from "../../src/kernel/secret.ts";
import { findKeyRecords } from "../../src/accounts/keys/find.ts";
import { keysFile, preparedDatabase } from "../data/prepare.ts";
import { dataFolder } from "../paths.ts";
import type { Microbenchmark } from "./benchmark.ts";

const counts = [1, 128];

export const authenticate: Microbenchmark = {
  unit: "key",
  async prepare(stack) {
    const servers = await findServers();
    if ("missing" in servers) throw new Error(`Cannot start PostgreSQL: ${servers.missing}`);
    const folder = join(dataFolder, "services/postgres");
    const postgres = stack.use(await startPostgres({ program: servers.postgres, folder, durable: true }));
    const url = await preparedDatabase(postgres.url, (line) => console.error(line));
    const { sql } = stack.use(openPostgres({ url: new Secret(url), applicationName: "bench", clock: systemClock }));
    const keys = readFileSync(keysFile("spread"), "utf8").trim().split("\n");
    const hashes = keys.map(hashKey);
    const hints = new GatewayKeyCache(systemClock);
    let turn = 0;
    const next = (): number => turn++ % keys.length;
    const records = await findKeyRecords(hashes, sql);
    const keepAll = () => {
      for (const [hash, record] of records) {
        const readAt = { at: systemClock.monotonic(), version: hints.version() };
        hints.set(hash, { kind: "record", ageMs: 0, record: recordOnBus(record) }, readAt);
      }
    };
    keepAll();
    const cached = () => {
      const hash = hashKey(keys[next()] ?? "");
      if (hints.get(hash) === undefined) keepAll();
    };
    const lookUp = async (count: number) => {
      const found = await findKeyRecords(
        Array.from({ length: count }, () => hashes[next()] ?? ""),
        sql,
      );
      if (found.size !== count) throw new Error(`${found.size} of ${count} keys were found`);
    };
    return [
      { name: "hashed and cached", units: 1, call: cached },
      ...counts.map((count) => ({ name: `looked up, ${count} a statement`, units: count, call: () => lookUp(count) })),
    ];
  },
};
