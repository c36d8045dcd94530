/** Two versions settle and rows are moved in any order, also at the same time: each generation is charged once. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Database } from "../../../src/backing/backing.ts";
import { migrate } from "../../../src/backing/migrate.ts";
import type { Settlement } from "../../../src/gateway/journal/settlement.ts";
import { moveBatch } from "../../../src/gateway/metering/move-store.ts";
import { moveGenerations } from "../../../src/gateway/metering/move.ts";
import { settlementStore } from "../../../src/gateway/metering/store.ts";
import { verifyLedger } from "../../../src/gateway/metering/verify.ts";
import { systemClock } from "../../../src/kernel/clock.ts";
import { newKeyId, newWorkspaceId } from "../../../src/kernel/ids.ts";
import { formerStore } from "../../support/gateway/former/store.ts";
import { event, TestMetering } from "../../support/gateway/metering.ts";
import { settlement } from "../../support/gateway/settlements.ts";
import { oneDatabase } from "../../support/servers/databases.ts";

const credit = 1_000_000_000n;
const cost = 200_000n;
const free = { promptTokens: 0, cachedTokens: 0, cacheWriteTokens: 0, completionTokens: 0, reasoningTokens: 0 };

const ends = fc.array(fc.record({ generation: fc.nat(7), isLost: fc.boolean() }), { minLength: 1, maxLength: 4 });
const work = fc.oneof(
  { weight: 3, arbitrary: fc.record({ by: fc.constantFrom("older" as const, "newer" as const), ends }) },
  { weight: 1, arbitrary: fc.constant("move" as const) },
);
/** What happens at the same time, one step after the other. */
const steps = fc.array(fc.array(work, { minLength: 1, maxLength: 3 }), { minLength: 2, maxLength: 8, size: "max" });

// The embedded database has one connection, so that nothing happens at the same time in it.
describe.each(oneDatabase)("both versions on $name", ({ openBefore }) => {
  /** Gives two workspaces credit. @returns generations of both */
  async function addCustomers(sql: Database): Promise<Settlement[]> {
    const customers = [1, 2].map((ms) => ({ workspace: newWorkspaceId(ms), key: newKeyId(ms) }));
    for (const { workspace } of customers) {
      await sql`INSERT INTO workspaces (id, name) VALUES (${workspace}, ${workspace})`;
      await sql`INSERT INTO credit_accounts (workspace_id, balance_nano, sequence) VALUES (${workspace}, ${credit}, 1)`;
      await sql`INSERT INTO ledger_entries VALUES (${workspace}, 1, 'credit', ${credit}, ${credit}, 'first')`;
    }
    return Array.from({ length: 8 }, (_, n) =>
      settlement({ ...(customers[n % 2] ?? { workspace: "", key: "" }), admittedAt: Date.UTC(2026, 9 + (n % 3), 20, 12, n) }),
    );
  }

  /** Delivers again what a lock that was not free, or a deadlock, has rolled back. */
  async function deliver(metering: TestMetering, list: Settlement[]): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await metering.deliver(event(list));
      } catch (error) {
        const { code } = error as { code?: unknown };
        if ((code !== "40P01" && code !== "55P03") || attempt === 5) throw error;
      }
    }
  }

  test("each generation is charged once, whatever either version has, and the ledger is proved", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(ends, { maxLength: 4 }), steps, async (before, after) => {
        await using database = await openBefore("0016");
        const { sql } = database;
        const generations = await addCustomers(sql);
        const metering = { older: new TestMetering(sql), newer: new TestMetering(sql) };
        metering.older.store = formerStore(sql);
        metering.newer.store = settlementStore(sql);
        const settlementsOf = (list: (typeof before)[number]) =>
          list.flatMap(({ generation, isLost }) => {
            const one = generations[generation];
            if (!one) return [];
            return isLost ? { ...one, outcome: "unknown" as const, usage: free, status: 500 } : one;
          });
        for (const list of before) await deliver(metering.older, settlementsOf(list));
        await migrate(sql);
        for (const step of after) {
          await Promise.all(
            step.map((one) => (one === "move" ? moveBatch(2, sql) : deliver(metering[one.by], settlementsOf(one.ends)))),
          );
        }
        await moveGenerations({ sql, clock: systemClock }, { finish: true });
        const delivered = [...before, ...after.flat().flatMap((one) => (one === "move" ? [] : [one.ends]))].flatMap(
          settlementsOf,
        );
        const charged = new Set(delivered.filter(({ outcome }) => outcome === "settled").map(({ generation }) => generation));
        const rows = await sql<{ id: string; outcome: string; cost: bigint }[]>`
          SELECT generation_id AS id, outcome, cost_nano AS cost FROM generations`;
        expect(new Map(rows.map(({ id, ...row }) => [id, row]))).toEqual(
          new Map(
            delivered.map(({ generation }) => [
              generation,
              charged.has(generation) ? { outcome: "settled", cost } : { outcome: "unknown", cost: 0n },
            ]),
          ),
        );
        const [account] = await sql<{ balance: bigint }[]>`SELECT sum(balance_nano)::bigint AS balance FROM credit_accounts`;
        expect(account?.balance).toBe(2n * credit - BigInt(charged.size) * cost);
        expect((await verifyLedger({ sql })).broken).toBeNull();
      }),
      { numRuns: 8 },
    );
  }, 120_000);
});
