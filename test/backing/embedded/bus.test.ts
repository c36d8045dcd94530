import { afterAll, beforeAll } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EmbeddedBus } from "../../../src/backing/embedded/bus.ts";
import { openEmbeddedPostgres, type OpenEmbedded } from "../../../src/backing/embedded/postgres.ts";
import { systemClock } from "../../../src/kernel/clock.ts";
import { silentLog } from "../../../src/kernel/log.ts";
import { busContract } from "../../contracts/bus.ts";
import { copyEmbeddedDatabase } from "../../support/servers/prepared-databases.ts";

let home: string;
let database: OpenEmbedded;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "weir-bus-"));
  const folder = join(home, "postgres");
  await copyEmbeddedDatabase(folder);
  database = await openEmbeddedPostgres({ folder, clock: systemClock, log: silentLog });
}, 60_000);
afterAll(async () => {
  await database[Symbol.asyncDispose]();
  await rm(home, { recursive: true, force: true });
});

busContract("the embedded bus", async () => {
  await database.sql`TRUNCATE outbox`;
  const bus = new EmbeddedBus({ sql: database.sql, clock: systemClock, log: silentLog });
  return { bus, other: bus, [Symbol.asyncDispose]: () => bus[Symbol.asyncDispose]() };
});
