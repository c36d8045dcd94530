import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { newGenerationId } from "../../../src/kernel/ids.ts";
import { databases, type TestDatabase } from "../../support/servers/databases.ts";
import { cost, StoredMoney, usd } from "../../support/gateway/stored-money.ts";

const free = { input: "0", output: "0", cacheRead: "0", cacheWrite: "0" };
const byOwnKey = { reserved: "0", prices: free, ownKey: { id: "own-1", listCost: "200000" } };

describe.each(databases)("a generation with a workspace's own key on $name", ({ open }) => {
  let database: TestDatabase;
  let money: StoredMoney;
  beforeAll(async () => {
    database = await open();
    money = new StoredMoney(database.sql);
  }, 60_000);
  afterAll(() => database[Symbol.asyncDispose]());

  const books = async (workspace: string) => {
    const [account] = await money.sql`SELECT balance_nano, sequence FROM credit_accounts WHERE workspace_id = ${workspace}`;
    const [entries] = await money.sql`SELECT count(*)::integer AS entries FROM ledger_entries WHERE workspace_id = ${workspace}`;
    const [month] = await money.sql`
      SELECT coalesce(sum(spent_nano), 0)::bigint AS spent FROM workspace_months WHERE workspace_id = ${workspace}`;
    return { ...account, ...entries, ...month };
  };

  test("leaves balance, month and the ledger's sequence as they were, and its list cost stands in its row", async () => {
    const { workspace, metering, ended } = await money.customer();
    const before = await books(workspace);
    const served = ended(byOwnKey);
    await metering.settle([served], [served]);
    expect(await books(workspace)).toEqual(before);
    const [row] = await money.sql`
      SELECT entry, cost_nano, excess_nano, own_key_id, list_cost_nano FROM generations WHERE generation_id = ${served.generation}`;
    expect(row).toEqual({ entry: null, cost_nano: 0n, excess_nano: 0n, own_key_id: "own-1", list_cost_nano: 200_000n });
    await money.expectSound();
  });

  test("is not counted by the entry of the charges that are booked with it", async () => {
    const { workspace, metering, ended } = await money.customer();
    const served = ended({ ...byOwnKey, generation: newGenerationId(Date.UTC(2026, 10, 20)) });
    await metering.settle([ended(), served]);
    const [entry] = await money.sql`
      SELECT charges, amount_nano FROM ledger_entries WHERE workspace_id = ${workspace} AND kind = 'charge'`;
    expect(entry).toEqual({ charges: 1, amount_nano: -cost });
    expect(await money.balance(workspace)).toBe(usd - cost);
    await money.expectSound();
  });

  test("of a client that left after its first token breaks no invariant, since its provider bills it", async () => {
    const { metering, ended } = await money.customer();
    await metering.settle([ended({ ...byOwnKey, status: 499, code: "client_gone", streamed: true, firstTokenMs: 5 })]);
    await money.expectSound();
  });
});
