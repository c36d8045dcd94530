/** A process that writes rows to an embedded database and prints which were acknowledged, until it is killed. */
import { openEmbeddedPostgres } from "../../../src/backing/embedded/postgres.ts";
import { systemClock } from "../../../src/kernel/clock.ts";
import { silentLog } from "../../../src/kernel/log.ts";

const folder = process.argv[2] ?? "";
const { sql } = await openEmbeddedPostgres({ folder, clock: systemClock, log: silentLog });
await sql`CREATE TABLE IF NOT EXISTS written (id bigint PRIMARY KEY, filler text NOT NULL)`;
const [last] = await sql<{ id: bigint }[]>`SELECT coalesce(max(id), 0) AS id FROM written`;
for (let id = (last?.id ?? 0n) + 1n; ; id++) {
  await sql`INSERT INTO written VALUES (${id}, ${"x".repeat(500)})`;
  process.stdout.write(`${id}\n`);
}
