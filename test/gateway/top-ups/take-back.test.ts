/** Refunds and disputes: what they take out of the credit and return to it, and what `ledger verify` makes of a balance below zero. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { oneDatabase, type TestDatabase } from "../../support/servers/databases.ts";
import { TopUpWorld } from "../../support/stripe/top-up-world.ts";

describe.each(oneDatabase)("what is taken back on $name", ({ open }) => {
  let database: TestDatabase;
  let world: TopUpWorld;
  beforeAll(async () => {
    database = await open();
    world = new TopUpWorld(database.sql);
  });
  afterAll(async () => {
    world[Symbol.dispose]();
    await database[Symbol.asyncDispose]();
  });

  const refund = (id: string, usd?: string) =>
    world.control.expect("POST", `/top-ups/${id}/refund`, { body: usd === undefined ? {} : { usd } });
  const show = async (id: string) => world.control.expect("GET", `/top-ups/${id}`);

  test("a refund takes the credit first and reaches the card once, whatever its events and lost answers", async () => {
    const { id, workspace } = await world.paid("refunding");
    world.stub.faults.set("POST /v1/refunds", ["lost"]);
    expect(await refund(id, "7.50")).toMatchObject({
      refunded_usd: "7.500000000",
      refunds: [{ usd: "7.500000000", state: "succeeded" }],
    });
    await world.deliver(world.stub.event("refund.created"), 5);
    expect(await world.balance(workspace)).toBe("12.500000000");
    expect(await refund(id)).toMatchObject({ refunded_usd: "20.000000000" });
    expect([...world.stub.account.refunds.values()].map(({ amount }) => amount)).toEqual([750, 1_250]);
    expect(await world.balance(workspace)).toBe("0.000000000");
    expect(await world.control.refusal("POST", `/top-ups/${id}/refund`, { body: {} })).toBe("409 conflict usd");
  });

  test("a refund above what is left of the payment, or of the credit beside open requests, is refused", async () => {
    const { id, workspace } = await world.paid("spent");
    expect(await world.control.refusal("POST", `/top-ups/${id}/refund`, { body: { usd: "20.01" } })).toBe(
      "400 invalid_field usd",
    );
    await world.control.expect("POST", "/credit", { body: { workspace: "spent", usd: "1", ref: "gift" } });
    world.reserved = 2_000_000_000n;
    expect(await world.control.refusal("POST", `/top-ups/${id}/refund`, { body: { usd: "19.01" } })).toBe("409 conflict usd");
    world.reserved = null;
    expect(await world.control.refusal("POST", `/top-ups/${id}/refund`, { body: { usd: "1" } })).toBe("503 unavailable null");
    world.reserved = 0n;
    expect(await world.balance(workspace)).toBe("21.000000000");
  });

  test("a refund that Stripe refuses, or that fails later, returns to the credit once", async () => {
    const { id, workspace, intent } = await world.paid("failing");
    await refund(id, "5");
    const [made] = [...world.stub.account.refunds.values()].filter(({ payment_intent: of }) => of === intent);
    if (!made) throw new Error("There is no refund");
    const failed = world.stub.emit("refund.failed", { ...made, status: "failed" });
    await world.deliver(failed, 3);
    await world.deliver(world.stub.emit("refund.failed", { ...made, status: "failed" }));
    expect(await show(id)).toMatchObject({ refunded_usd: "0.000000000", refunds: [{ state: "failed" }] });
    // Stripe says that nothing is left of the payment.
    expect(await refund(id, "20")).toMatchObject({ refunds: [{ state: "failed" }, { state: "failed" }] });
    expect(await world.balance(workspace)).toBe("20.000000000");
    expect(world.control.logged.join("")).toContain("top_up.refund_failed");
  });

  test("a refund that was made in Stripe's dashboard is taken back, even where the credit is spent", async () => {
    const { id, workspace, intent } = await world.paid("elsewhere");
    await world.leave(workspace, 2);
    world.stub.account.refund({ amount: 2_000, payment_intent: intent, metadata: {} });
    await world.deliver(world.stub.event("refund.created"), 4);
    expect(await show(id)).toMatchObject({ refunded_usd: "20.000000000", refunds: [{ made_by: "stripe", state: "succeeded" }] });
    expect(await world.balance(workspace)).toBe("-18.000000000");
  });

  test("a refund and a dispute whose events come before the payment's own credit it first, so that neither is lost", async () => {
    const workspace = await world.control.workspace("early");
    const { id, intent } = await world.pay("early");
    world.stub.account.refund({ amount: 500, payment_intent: intent, metadata: {} });
    await world.deliver(world.stub.event("refund.created"), 2);
    expect(await world.balance(workspace)).toBe("15.000000000");
    const other = await world.pay("early");
    const dispute = { id: "dp_early", object: "dispute", amount: 1_000, currency: "usd", payment_intent: other.intent };
    await world.deliver(world.stub.emit("charge.dispute.funds_withdrawn", dispute));
    await world.deliver(world.stub.event("payment_intent.succeeded"));
    expect(await world.balance(workspace)).toBe("25.000000000");
    expect(await show(id)).toMatchObject({ state: "credited", received_usd: "20.000000000", refunded_usd: "5.000000000" });
    expect(await show(other.id)).toMatchObject({ state: "credited", disputed_usd: "10.000000000" });
  });

  test("a dispute takes the amount at once, switches automatic top-up off, and its end returns it, in any order of events", async () => {
    const { workspace } = await world.automatic("disputed");
    await world.leave(workspace, 3);
    const [topUp] = await world.topUps("disputed");
    const dispute = { id: "dp_1", object: "dispute", amount: 2_000, currency: "usd", payment_intent: topUp?.["payment_intent"] };
    await world.deliver(world.stub.emit("charge.dispute.created", dispute));
    await world.deliver(world.stub.emit("charge.dispute.funds_withdrawn", dispute), 5);
    expect(await world.balance(workspace)).toBe("-17.000000000");
    expect(await world.settings("disputed")).toMatchObject({ enabled: false });
    expect((await world.topUps("disputed"))[0]).toMatchObject({ disputed_usd: "20.000000000" });
    expect(await world.mailsTo("admin@disputed")).toEqual(["A card payment is disputed"]);
    await world.deliver(world.stub.emit("charge.dispute.funds_reinstated", dispute), 2);
    expect(await world.balance(workspace)).toBe("3.000000000");
    const other = { ...dispute, id: "dp_2", amount: 500 };
    await world.deliver(world.stub.emit("charge.dispute.funds_reinstated", other));
    await world.deliver(world.stub.emit("charge.dispute.funds_withdrawn", other));
    expect(await world.balance(workspace)).toBe("3.000000000");
    expect((await world.topUps("disputed"))[0]).toMatchObject({ disputed_usd: "0.000000000" });
  });

  test("`ledger verify` explains a balance below zero by refunds and disputes, and no lower one", async () => {
    // The charges of `leave` have no generations, which is the next thing it finds.
    expect(await world.broken()).toBe("entries_add_up");
    const { sql } = database;
    await sql`ALTER TABLE ledger_entries DISABLE TRIGGER ledger_append_only`;
    const kept = await sql<{ workspace: string; sequence: bigint; reference: string }[]>`
      SELECT workspace_id AS workspace, sequence, reference FROM ledger_entries WHERE kind = 'refund' AND balance_after_nano < 0`;
    await sql`
      UPDATE ledger_entries SET kind = 'charge', charges = 1, reference = NULL WHERE kind = 'refund' AND balance_after_nano < 0`;
    expect(await world.broken()).toBe("overdraft_explained");
    for (const { workspace, sequence, reference } of kept)
      await sql`
        UPDATE ledger_entries SET kind = 'refund', charges = NULL, reference = ${reference}
        WHERE workspace_id = ${workspace} AND sequence = ${sequence}`;
    await sql`UPDATE ledger_entries SET kind = 'credit' WHERE kind = 'dispute'`;
    expect(await world.broken()).toBe("running_balance");
  });
});
