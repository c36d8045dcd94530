/** Metering moves the rows of the version before by itself, whatever fails meanwhile. */
import { expect, test } from "bun:test";
import { pino } from "pino";
import type { Database } from "../../../src/backing/backing.ts";
import { migrate } from "../../../src/backing/migrate.ts";
import { chargeOf } from "../../../src/gateway/metering/booking.ts";
import { startMove } from "../../../src/gateway/metering/move.ts";
import { verifyLedger } from "../../../src/gateway/metering/verify.ts";
import { systemClock, type Clock } from "../../../src/kernel/clock.ts";
import { newKeyId, newWorkspaceId } from "../../../src/kernel/ids.ts";
import { formerStore } from "../../support/gateway/former/store.ts";
import { settlement } from "../../support/gateway/settlements.ts";
import { oneDatabase } from "../../support/servers/databases.ts";
import { until } from "../../support/until.ts";

/** Its pauses are short, so that the test need not wait. */
const clock: Clock = { ...systemClock, after: (_, callback) => systemClock.after(1, callback) };

/** A database whose first transactions fail. */
function failing(sql: Database, failures: number): Database {
  let left = failures;
  return new Proxy(sql, {
    get: (target, name) =>
      name === "begin" && left-- > 0
        ? () => Promise.reject(new Error("The database has gone away"))
        : (Reflect.get(target, name) as unknown),
  });
}

test.each(oneDatabase)(
  "a move in the background goes on after failures, shows its progress, and ends with the older tables only in one process, on $name",
  async ({ openBefore }) => {
    await using database = await openBefore("0016-generations.sql");
    const { sql } = database;
    const [workspace, key] = [newWorkspaceId(1), newKeyId(1)];
    await sql`INSERT INTO workspaces (id, name) VALUES (${workspace}, 'w')`;
    await sql`INSERT INTO credit_accounts (workspace_id, balance_nano, sequence) VALUES (${workspace}, 1000000000, 1)`;
    await sql`INSERT INTO ledger_entries VALUES (${workspace}, 1, 'credit', 1000000000, 1000000000, 'first')`;
    await formerStore(sql).settle([1, 2, 3].map(() => chargeOf(settlement({ workspace, key }))));
    await migrate(sql);
    const lines: Record<string, unknown>[] = [];
    const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
    const lastOf = (event: string) => lines.findLast((line) => line["event"] === event);
    const older = async () => (await sql`SELECT to_regclass('charges') IS NOT NULL AS there`)[0]?.["there"];
    for (const isAlone of [false, true]) {
      lines.length = 0;
      await using _ = startMove({ sql: failing(sql, 2), clock, log, isAlone });
      await until(async () => (isAlone ? !(await older()) : lastOf("generations.moved") !== undefined));
      expect(await older()).toBe(!isAlone);
      expect(lines.filter((line) => line["event"] === "generations.move.failed")).toHaveLength(2);
      expect(lastOf("generations.moving")).toMatchObject({ moved: 3, total: 3, finished: false });
      expect((await verifyLedger({ sql })).broken).toBeNull();
    }
    expect(await sql`SELECT FROM generations`).toHaveLength(3);
  },
);
