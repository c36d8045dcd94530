/** Settlement asks of each generation whether it has ended, among all months that are kept. */
import { expect, test } from "bun:test";
import { GenerationsMonths } from "../../../src/gateway/metering/months-store.ts";
import { newGenerationId } from "../../../src/kernel/ids.ts";
import { databases } from "../../support/servers/databases.ts";

test.each(databases)("a plan that serves any ids searches only the months of the given ones, on $name", async ({ open }) => {
  await using database = await open();
  const { sql } = database;
  const [july, october, november] = [6, 9, 10].map((month) => Date.UTC(2026, month, 20)) as [number, number, number];
  const ids = [july, october, november].map((ms) => newGenerationId(ms));
  await new GenerationsMonths(sql).make(
    ids.map((generation, n) => ({ generation, admittedAt: [july, october, november][n] ?? 0 })),
  );
  const searched = await sql.begin(async (tx) => {
    await tx`SET LOCAL plan_cache_mode = force_generic_plan`;
    await tx`PREPARE outcomes (text[]) AS SELECT generation, outcome FROM outcomes_of($1)`;
    const plan = await tx.unsafe<Record<string, string>[]>(
      `EXPLAIN (ANALYZE, TIMING OFF) EXECUTE outcomes ('{${ids.slice(1).join(",")}}')`,
    );
    await tx`DEALLOCATE outcomes`;
    const scans = plan.flatMap(Object.values).filter((line) => String(line).includes("never executed") === false);
    return scans.flatMap((line) => /on (generations_\d{4}_\d\d)/.exec(String(line))?.[1] ?? []);
  });
  expect(searched.toSorted()).toEqual(["generations_2026_10", "generations_2026_11"]);
});
