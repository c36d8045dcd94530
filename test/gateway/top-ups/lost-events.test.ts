/** Events of Stripe that never come, and those who would keep them away: nothing that was taken back stays in the credit. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { strangerGivesWayMs } from "../../../src/accounts/limits.ts";
import { takenBackAgeMs } from "../../../src/gateway/top-ups/limits.ts";
import { bodyGraceMs } from "../../../src/http/limits.ts";
import { settled } from "../../support/clock.ts";
import { oneDatabase, type TestDatabase } from "../../support/servers/databases.ts";
import { delivery, type StubEvent } from "../../support/stripe/stripe-stub.ts";
import { TopUpWorld } from "../../support/stripe/top-up-world.ts";

describe.each(oneDatabase)("events that do not come, on $name", ({ open }) => {
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

  const auditOf = async (workspace: string): Promise<string[]> =>
    (await world.control.list(`/audit?workspace=${workspace}`)).map(({ event }) => String(event));
  const send = async (event: StubEvent): Promise<number> =>
    (await world.send(delivery(event, { atMs: world.control.clock.now() }))).status;

  test("128 slow posts that nobody signed keep no signed event away", async () => {
    const { clock } = world.control;
    const { workspace, intent } = await world.paid("disputing");
    const statuses: number[] = [];
    const headers = { "stripe-signature": `t=${Math.floor(clock.now() / 1_000)},v1=${"0".repeat(64)}` };
    for (let index = 0; index < 128; index++) {
      const body = new ReadableStream({ pull: () => new Promise(() => {}) }, { highWaterMark: 0 });
      const post = new Request("http://localhost/api/stripe-webhook", { method: "POST", headers, body });
      void world.send(post).then(({ status }) => statuses.push(status));
    }
    world.stub.account.dispute({ amount: 2_000, payment_intent: intent });
    const sent = send(world.stub.event("charge.dispute.funds_withdrawn"));
    await settled();
    await clock.pass(10 * strangerGivesWayMs);
    expect(await sent).toBe(200);
    expect(await world.balance(workspace)).toBe("0.000000000");
    await clock.pass(2 * bodyGraceMs);
    expect(statuses).toHaveLength(128);
    expect(new Set(statuses)).toEqual(new Set([408, 503]));
  });

  test("the sweeper books disputes whose events are lost, once, and leaves them to events that come late", async () => {
    const { workspace } = await world.automatic("swept");
    const { clock } = world.control;
    const { intent } = await world.pay("swept");
    await world.deliver(world.stub.event("payment_intent.succeeded"));
    expect(await world.balance(workspace)).toBe("40.000000000");
    const disputes = [300, 400, 500, 600].map((amount) => world.stub.account.dispute({ amount, payment_intent: intent }));
    await world.sweep();
    expect(await world.balance(workspace)).toBe("22.000000000");
    expect(await world.settings("swept")).toMatchObject({ enabled: false });
    expect(await world.mailsTo("admin@swept")).toEqual(disputes.map(() => "A card payment is disputed"));
    const before = await auditOf("swept");
    await world.control.expect("PATCH", "/top-up-settings", { body: { workspace: "swept", enabled: true } });
    await world.sweep();
    await world.deliver(world.stub.event("charge.dispute.created"));
    await world.deliver(world.stub.event("charge.dispute.funds_withdrawn"), 2);
    expect(await world.settings("swept")).toMatchObject({ enabled: true });
    const [first] = disputes;
    if (first) world.stub.account.win(first);
    await world.sweep();
    await world.deliver(world.stub.event("charge.dispute.funds_reinstated"));
    expect(await world.balance(workspace)).toBe("25.000000000");
    const added = (await auditOf("swept")).slice(0, -before.length);
    expect(added.toSorted()).toEqual(["top_up.dispute_reinstated", "top_up.settings.updated"]);
    clock.advance(takenBackAgeMs + 1_000);
    const late = await world.pay("swept");
    await world.deliver(world.stub.event("payment_intent.succeeded"));
    world.stub.calls.length = 0;
    await world.sweep();
    expect(world.stub.calls.filter((call) => call === "GET /v1/disputes")).toHaveLength(1);
    expect(await world.control.expect("GET", `/top-ups/${late.id}`)).toMatchObject({
      state: "credited",
      disputed_usd: "0.000000000",
    });
  });

  test("the sweeper takes back refunds of Stripe's dashboard, and returns those that failed", async () => {
    const { id, workspace, intent } = await world.paid("refunded");
    const [kept, failing] = [500, 700].map((amount) =>
      world.stub.account.refund({ amount, payment_intent: intent, metadata: {} }),
    );
    await world.sweep();
    await world.sweep();
    expect(await world.balance(workspace)).toBe("8.000000000");
    if (failing) failing.status = "failed";
    await world.sweep();
    await world.sweep();
    expect(await world.balance(workspace)).toBe("15.000000000");
    expect(await world.control.expect("GET", `/top-ups/${id}`)).toMatchObject({ refunded_usd: "5.000000000" });
    expect(kept?.status).toBe("succeeded");
  });

  test("the sweeper asks nothing about payments that are not Weir's", async () => {
    const card = [...world.stub.account.cards.keys()][0] ?? "";
    const foreign = world.stub.account.charge({ amount: 900, customer: "cus_foreign", payment_method: card, metadata: {} });
    world.stub.account.dispute({ amount: 900, payment_intent: foreign.id });
    world.stub.account.refund({ amount: 100, payment_intent: foreign.id, metadata: {} });
    world.stub.calls.length = 0;
    await world.sweep();
    expect(new Set(world.stub.calls)).toEqual(new Set(["GET /v1/disputes", "GET /v1/refunds"]));
  });
});
