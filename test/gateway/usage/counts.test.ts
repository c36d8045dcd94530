import { expect, test } from "bun:test";
import { retainLog } from "../../../src/gateway/generations/retain.ts";
import { verifyLedger } from "../../../src/gateway/metering/verify.ts";
import { type Counted, selectCounts } from "../../../src/gateway/usage/store.ts";
import { rollUpUsage } from "../../../src/gateway/usage/roll-up.ts";
import { ManualClock } from "../../support/clock.ts";
import { StoredMoney, type Customer } from "../../support/gateway/stored-money.ts";
import { databases } from "../../support/servers/databases.ts";

const now = Date.UTC(2026, 10, 20, 12);
const day = 96;
const first = Date.UTC(2026, 7, 1) / 900_000;
const end = Date.UTC(2026, 10, 21) / 900_000;
const starts = Array.from({ length: (end - first) / day }, (_, index) => first + index * day);

test.each(databases)(
  "codes and first tokens by day are those of the log, rolled up or not, late or removed, on $name",
  async ({ open }) => {
    await using database = await open();
    const { sql } = database;
    const money = new StoredMoney(sql);
    const customer = await money.customer();
    const other = await money.customer();
    const codes = ["upstream_error", "client_gone", "upstream_timeout"];
    const ended = ({ ended: made }: Customer, count: number, seed: number) =>
      Array.from({ length: count }, (_, index) => {
        const n = seed + index;
        const code = codes[n % 5] ?? null;
        return made({
          admittedAt: now - 1 - (n % 97) * 86_400_000 - n * 1_000,
          model: n % 2 === 0 ? "acme/even" : "acme/odd",
          provider: n % 3 === 0 ? "near" : "far",
          firstTokenMs: n % 7 === 0 ? null : 1 + n * n,
          ...(code !== null && { status: 502, code }),
        });
      });

    /** By means other than the code under test. */
    const expected = async (counted: Counted, model: string | null, provider: string | null) => {
      const rows = await sql<
        { at: Date; model: string; provider: string; status: number; code: string | null; ms: number | null }[]
      >`
      SELECT admitted_at AS at, model, provider, status, code, first_token_ms AS ms FROM generations WHERE workspace_id = ${customer.workspace}`;
      const sums = new Map<string, number>();
      for (const { at, status, code, ms, ...row } of rows) {
        if (model !== null && row.model !== model) continue;
        if (provider !== null && row.provider !== provider) continue;
        const name =
          counted === "errors"
            ? status >= 400
              ? code
              : null
            : ms === null
              ? null
              : String(Math.floor(8 * Math.log2(ms) + 1e-9));
        if (name === null) continue;
        const place = `${Math.floor((at.getTime() / 900_000 - first) / day) + 1} ${name}`;
        sums.set(place, (sums.get(place) ?? 0) + 1);
      }
      return [...sums].toSorted();
    };
    const expectRight = async () => {
      for (const counted of ["errors", "first_token"] as const) {
        for (const [keys, model, provider] of [
          [null, null, null],
          [[customer.key], null, null],
          [null, "acme/odd", null],
          [null, null, "far"],
        ] as const) {
          const query = { workspace: customer.workspace, keys: keys?.slice() ?? null, model, provider, starts, end };
          const found = await selectCounts(query, counted, sql);
          const sums = found.map(({ period, name, requests }): [string, number] => [`${period} ${name}`, Number(requests)]);
          expect(sums.toSorted()).toEqual(await expected(counted, model, provider));
          expect(sums.length).toBeGreaterThan(20);
        }
      }
    };
    const early = ended(customer, 90, 0);
    await customer.metering.settle([...early, ...ended(other, 20, 500)]);
    await expectRight();
    await rollUpUsage({ sql, clock: new ManualClock(Date.UTC(2026, 9, 20)) }, { rowsMax: 7 });
    await expectRight();
    await customer.metering.settle(ended(customer, 60, 90), early);
    await expectRight();
    await rollUpUsage({ sql, clock: new ManualClock(now + 120_000) }, { rowsMax: 50 });
    await expectRight();
    await money.expectSound();

    const counted = () => selectCounts({ workspace: customer.workspace, keys: null, model: null, starts, end }, "errors", sql);
    const before = await counted();
    await retainLog({ actor: { kind: "operator" }, months: 2 }, { sql, clock: new ManualClock(now) });
    expect(await counted()).toEqual(before);

    await sql`UPDATE usage_counts SET requests = requests + 1 WHERE name = 'client_gone' AND kind = 2 AND span = 24`;
    expect((await verifyLedger({ sql })).broken?.invariant).toBe("usage_counts_agree");
  },
  60_000,
);
