/** What a workspace may do only so often in an hour. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { quotaHourMs } from "../../../src/accounts/limits.ts";
import { countAct } from "../../../src/accounts/quotas/hourly-acts.ts";
import { LimitReachedError } from "../../../src/accounts/errors.ts";
import { Control } from "../../support/control.ts";
import { oneDatabase, type TestDatabase } from "../../support/servers/databases.ts";

describe.each(oneDatabase)("acts in an hour on $name", ({ open }) => {
  let database: TestDatabase;
  let control: Control;
  let workspaces: string[];
  beforeAll(async () => {
    database = await open();
    control = new Control(database.sql);
    workspaces = [await control.workspace("one"), await control.workspace("two")];
  }, 60_000);
  afterAll(() => database[Symbol.asyncDispose]());

  const max = 5;
  /** null: it was counted; else how long it has to wait. */
  const act = (name: string, of = 0): Promise<number | null> =>
    countAct({ workspace: workspaces[of] ?? "", act: name, max }, { sql: database.sql, clock: control.clock }).then(
      () => null,
      (error: unknown) => {
        if (error instanceof LimitReachedError) return error.retryAfterMs;
        throw error;
      },
    );

  test("of many at once as many are counted as there may be, and others wait for the oldest to be an hour old", async () => {
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => act("at once")));
    expect(outcomes.filter((one) => one === null)).toHaveLength(max);
    expect(outcomes.filter((one) => one === quotaHourMs)).toHaveLength(15);
    expect([await act("at once", 1), await act("another")]).toEqual([null, null]);
  });

  test("the hour slides: each act frees its place when it is an hour old", async () => {
    for (let index = 0; index < max; index++) {
      expect(await act("sliding")).toBe(null);
      control.clock.advance(60_000);
    }
    expect(await act("sliding")).toBe(quotaHourMs - max * 60_000);
    control.clock.advance(quotaHourMs - max * 60_000);
    expect([await act("sliding"), await act("sliding")]).toEqual([null, 60_000]);
  });
});
