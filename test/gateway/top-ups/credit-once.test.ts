/** Whatever Stripe sends and answers, and in whichever order: a payment is credited once. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { oneDatabase, type TestDatabase } from "../../support/servers/databases.ts";
import { delivery } from "../../support/stripe/stripe-stub.ts";
import { TopUpWorld } from "../../support/stripe/top-up-world.ts";

describe.each(oneDatabase)("a payment on $name", ({ open }) => {
  let database: TestDatabase;
  let world: TopUpWorld;
  let count = 0;
  beforeAll(async () => {
    database = await open();
    world = new TopUpWorld(database.sql);
  });
  afterAll(async () => {
    world[Symbol.dispose]();
    await database[Symbol.asyncDispose]();
  });

  const fresh = async (): Promise<{ name: string; id: string }> => {
    const name = `paying-${++count}`;
    return { name, id: await world.control.workspace(name) };
  };
  const entries = async (workspace: string): Promise<string[]> => {
    const rows = await database.sql<{ kind: string; reference: string | null; amount: bigint }[]>`
      SELECT kind, reference, amount_nano AS amount FROM ledger_entries WHERE workspace_id = ${workspace} ORDER BY sequence`;
    return rows.map(({ kind, reference, amount }) => `${kind} ${reference ?? ""} ${amount}`);
  };

  test("is credited once by forty deliveries at once of its two events, each answered with 200, and saves the card", async () => {
    const { name, id: workspace } = await fresh();
    const { id, intent } = await world.pay(name, "20.50");
    const statuses = await Promise.all([
      world.deliver(world.stub.event("payment_intent.succeeded"), 20),
      world.deliver(world.stub.event("checkout.session.completed"), 20),
    ]);
    expect(new Set(statuses.flat())).toEqual(new Set([200]));
    expect(await entries(workspace)).toEqual([`credit stripe:${intent} 20500000000`]);
    expect(await world.topUps(name)).toMatchObject([
      { id, state: "credited", received_usd: "20.500000000", url: null, payment_intent: intent, made_by: "operator" },
    ]);
    expect(await world.settings(name)).toMatchObject({ card: { brand: "visa", last_four: "4242", expires: "2030-04" } });
    expect(world.control.refreshed).toContain(workspace);
    const events = await world.control.list(`/audit?workspace=${name}&event=credit.added`);
    expect(events).toMatchObject([{ actor: "weir", role: "service", target: `stripe:${intent}` }]);
  });

  test("is credited once by its events, the payer's return and the sweeper together", async () => {
    const { name, id: workspace } = await fresh();
    const { id } = await world.pay(name);
    await Promise.all([
      world.control.expect("GET", `/top-ups/${id}`),
      world.sweep(),
      world.deliver(world.stub.event("payment_intent.succeeded"), 3),
      world.control.expect("GET", `/top-ups/${id}`),
    ]);
    expect(await entries(workspace)).toHaveLength(1);
    expect(await world.balance(name)).toBe("20.000000000");
  });

  test("of a saved card is credited once when its event comes before the answer", async () => {
    const { workspace } = await world.automatic("early-event");
    await world.leave(workspace, 5);
    const early: Promise<number[]>[] = [];
    world.stub.onCarriedOut = () => void early.push(world.deliver(world.stub.event("payment_intent.succeeded"), 2));
    await world.check();
    world.stub.onCarriedOut = () => {};
    expect((await Promise.all(early)).flat()).toEqual([200, 200]);
    expect(await world.balance(workspace)).toBe("55.000000000");
    expect(await entries(workspace)).toHaveLength(3);
  });

  test("of a saved card is credited once when its answers are lost, and the sweeper repeats the call with its key", async () => {
    const { workspace } = await world.automatic("lost-answer");
    await world.leave(workspace, 5);
    world.stub.faults.set("POST /v1/payment_intents", ["lost"]);
    const charged = world.stub.account.charged();
    await world.check();
    await world.sweep();
    expect(world.stub.account.charged() - charged).toBe(5_000);
    expect(await world.balance(workspace)).toBe("55.000000000");
    await world.check();
    expect(await world.topUps("lost-answer")).toHaveLength(2);
  });

  test("of a saved card is credited when Stripe answered with an error after it was made", async () => {
    const { workspace } = await world.automatic("error-after");
    await world.leave(workspace, 5);
    world.stub.faults.set("POST /v1/payment_intents", ["error"]);
    const charged = world.stub.account.charged();
    await world.check();
    expect(await world.balance(workspace)).toBe("55.000000000");
    expect(world.stub.account.charged() - charged).toBe(5_000);
  });

  test("that was made before a crash is found when its key may be forgotten, and is not made again", async () => {
    const { workspace } = await world.automatic("long-crash");
    await world.leave(workspace, 5);
    const { sql } = database;
    // As a process that dies between the charge and its commit leaves it.
    await world.check();
    await sql`ALTER TABLE ledger_entries DISABLE TRIGGER ledger_append_only`;
    await sql`DELETE FROM ledger_entries WHERE workspace_id = ${workspace} AND sequence = 3`;
    await sql`ALTER TABLE ledger_entries ENABLE TRIGGER ledger_append_only`;
    await sql`UPDATE credit_accounts SET sequence = 2, balance_nano = 5000000000 WHERE workspace_id = ${workspace}`;
    await sql`UPDATE top_ups SET state = 'confirming', payment_intent = NULL, received_nano = 0 WHERE workspace_id = ${workspace} AND kind = 'automatic'`;
    const charged = world.stub.account.charged();
    world.control.clock.advance(24 * 3_600_000);
    await world.sweep();
    expect(world.stub.account.charged()).toBe(charged);
    expect(await world.balance(workspace)).toBe("55.000000000");
  });

  test("that Weir did not make changes nothing, and one of an unknown top-up raises an alarm", async () => {
    const intent = { id: "pi_of_others", object: "payment_intent", metadata: {} };
    const own = world.stub.emit("payment_intent.succeeded", intent);
    expect(await world.deliver(own)).toEqual([200]);
    const unknown = {
      metadata: { topup: `top-${"2".repeat(26)}`, try: "1" },
      amount: 500,
      customer: "cus",
      payment_method: "pm_x",
    };
    world.stub.account.cards.set("pm_x", "visa");
    world.stub.account.charge(unknown);
    expect(await world.deliver(world.stub.event("payment_intent.succeeded"))).toEqual([200]);
    expect(world.control.logged.join("")).toContain("top_up.unknown");
  });

  test("is not credited by an event with a wrong signature, an old time, the other mode, or no form, and an unknown type is taken", async () => {
    const { name, id: workspace } = await fresh();
    await world.pay(name);
    const event = world.stub.event("payment_intent.succeeded");
    const atMs = world.control.clock.now();
    const statusOf = async (request: Request): Promise<number> => (await world.send(request)).status;
    expect(await statusOf(delivery(event, { atMs, secret: "whsec_other" }))).toBe(400);
    expect(await statusOf(delivery(event, { atMs: atMs - 301_000 }))).toBe(400);
    expect(await statusOf(delivery({ ...event, livemode: true }, { atMs }))).toBe(400);
    expect(await statusOf(delivery({ ...event, id: "" }, { atMs }))).toBe(400);
    expect(await statusOf(new Request("http://localhost/api/stripe-webhook", { method: "POST", body: "{}" }))).toBe(400);
    expect(await statusOf(new Request("http://localhost/api/stripe-webhook"))).toBe(405);
    const large = { ...event, data: { object: { ...event.data.object, filler: "x".repeat(300_000) } } };
    expect(await statusOf(delivery(large, { atMs }))).toBe(413);
    expect(await entries(workspace)).toEqual([]);
    expect(await world.deliver(world.stub.emit("invoice.paid", { id: "in_1", status: { deep: true } }))).toEqual([200]);
    expect(world.control.logged.join("")).not.toContain("A text of Stripe");
  });
});
