/** A provider that answers at once makes charges and admissions race: open holds plus charges never exceed the credit. */
import { beforeAll, describe, expect, test } from "bun:test";
import postgres from "postgres";
import type { ServiceUrls } from "../../scripts/services.ts";
import type { Fleet } from "../support/servers/fleet.ts";
import { chat as ask, outcomeOf, tally } from "../support/gateway/requests.ts";
import { testServices } from "../support/servers/services.ts";
import { until } from "../support/until.ts";
import { sharedFleet } from "./shared-fleet.ts";

const services = await testServices();

interface Step {
  sequence: string;
  balance_after_nano: string;
  /** The reservations of generations that were admitted before this entry and charged after it. */
  open_nano: string;
}

describe.skipIf(services === null)(
  "with credit for 100 requests that reserve twice their cost, over 2 gateways and 3 workers",
  () => {
    let fleet: Fleet;
    let urls: ServiceUrls;

    beforeAll(async () => void ({ fleet, urls } = await sharedFleet()), 60_000);

    test("open holds plus charges do not exceed the credit at any ledger sequence", async () => {
      const { workspace, keys } = await fleet.operator().customer({ credit: "1", keys: 8 });
      // Reserves two cents and uses one.
      const body = { max_tokens: 2 };
      const loops = Array.from({ length: 40 }, async (_, index) => {
        const outcomes = [];
        for (let turn = 0; turn < 15; turn++) {
          const key = keys[(index + turn) % keys.length]?.key ?? "";
          outcomes.push(await outcomeOf(ask({ url: fleet.url((index + turn) % 2), key, body })));
        }
        return outcomes;
      });
      const counts = tally((await Promise.all(loops)).flat());
      expect(Object.keys(counts).toSorted()).toEqual(["200", "402 insufficient_credit"]);
      await until(async () => (await fleet.operator().show(workspace)).reserved_usd === "0.000000000");
      const steps = await ledgerSteps(workspace);
      expect(steps.length).toBeGreaterThan(1);
      expect(steps.filter(({ balance_after_nano, open_nano }) => BigInt(balance_after_nano) < BigInt(open_nano))).toEqual([]);
      expect(await fleet.operator().verify()).toMatchObject({ ok: true, broken: null });
    }, 60_000);

    async function ledgerSteps(workspace: string): Promise<Step[]> {
      const sql = postgres(urls.DATABASE_URL, { max: 1 });
      try {
        return await sql<Step[]>`
        SELECT entry.sequence::text, entry.balance_after_nano::text, coalesce(open.nano, 0)::text AS open_nano
        FROM ledger_entries AS entry
        CROSS JOIN LATERAL (
          SELECT sum(reserved_nano) AS nano FROM generations AS later
          WHERE later.workspace_id = entry.workspace_id AND later.admitted_at < entry.at AND later.entry > entry.sequence) AS open
        WHERE entry.workspace_id = ${workspace} ORDER BY entry.sequence`;
      } finally {
        await sql.end();
      }
    }
  },
);
