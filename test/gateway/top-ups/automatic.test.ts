/** Automatic top-up: when the saved card is charged, how often, and when that stops. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { topUpAutomatically } from "../../../src/gateway/top-ups/automatic.ts";
import { oneDatabase, type TestDatabase } from "../../support/servers/databases.ts";
import { TopUpWorld } from "../../support/stripe/top-up-world.ts";

const hourMs = 3_600_000;

describe.each(oneDatabase)("automatic top-up on $name", ({ open }) => {
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

  const statesOf = async (name: string): Promise<string[]> =>
    (await world.topUps(name)).filter(({ kind }) => kind === "automatic").map(({ state }) => String(state));

  test("makes one payment by twelve triggers at once, and none above the month's cap", async () => {
    const { workspace } = await world.automatic("busy", { monthly_cap_usd: "120" });
    // More than the database has connections; each waits for one, and the bound of that wait is another test's.
    const triggers = () => Promise.all(Array.from({ length: 12 }, () => topUpAutomatically(workspace, world.parts)));
    for (const credited of ["55", "55", "5"]) {
      await world.leave(workspace, 5);
      await triggers();
      expect(await world.balance(workspace)).toBe(`${credited}.000000000`);
    }
    expect(await statesOf("busy")).toEqual(["credited", "credited"]);
    expect(await world.settings("busy")).toMatchObject({ month_usd: "100.000000000", enabled: true });
    // The cap is one of a calendar month in UTC.
    world.control.clock.advance(Date.UTC(2026, 11, 1) - world.control.clock.now());
    await world.check();
    expect(await world.balance(workspace)).toBe("55.000000000");
  });

  test("compares the threshold with what is left of the balance beside open requests", async () => {
    const { workspace } = await world.automatic("reserving");
    expect(await world.balance(workspace)).toBe("20.000000000");
    await world.check();
    expect(await statesOf("reserving")).toEqual([]);
    world.reserved = 10_000_000_001n;
    await topUpAutomatically(workspace, world.parts);
    world.reserved = 0n;
    expect(await world.balance(workspace)).toBe("70.000000000");
  });

  test("charges nothing for a workspace that is switched off", async () => {
    const { workspace } = await world.automatic("switched-off");
    await world.leave(workspace, 1);
    await world.control.expect("PATCH", "/workspaces/switched-off", { body: { enabled: false } });
    await world.check();
    expect(await statesOf("switched-off")).toEqual([]);
  });

  test("charges at once when it is switched on below the threshold", async () => {
    const { workspace } = await world.automatic("late", { threshold_usd: "25" });
    expect(await world.balance(workspace)).toBe("70.000000000");
  });

  test("tries a declined card again after an hour and a day, and is off after three declines, with a mail for each", async () => {
    const { workspace, card } = await world.automatic("declined");
    world.stub.account.cards.set(card, "chargeDeclinedInsufficientFunds");
    await world.leave(workspace, 5);
    await world.check();
    const { clock } = world.control;
    const retryAt = new Date(clock.now() + hourMs).toISOString();
    expect((await world.topUps("declined"))[0]).toMatchObject({
      state: "failed",
      failure: "insufficient_funds",
      retry_at: retryAt,
    });
    // The event says the same once more.
    await world.deliver(world.stub.event("payment_intent.payment_failed"));
    clock.advance(hourMs - 1);
    await world.check();
    expect(await world.settings("declined")).toMatchObject({ declines: 1, enabled: true });
    clock.advance(1);
    await world.check();
    expect(await world.settings("declined")).toMatchObject({ declines: 2, enabled: true });
    clock.advance(24 * hourMs);
    await world.check();
    expect(await world.settings("declined")).toMatchObject({ declines: 3, enabled: false });
    expect((await world.topUps("declined"))[0]).toMatchObject({ state: "failed", retry_at: null });
    const subjects = ["A top-up failed: the card was declined", "A top-up failed: the card was declined"];
    for (const email of ["admin@declined", "super_admin@declined"])
      expect(await world.mailsTo(email)).toEqual([...subjects, "Automatic top-up is off: the card was declined"]);
    expect(await world.mailsTo("member@declined")).toEqual([]);
    expect(await world.balance(workspace)).toBe("5.000000000");
  });

  test("begins its count again after a success, with the card that a person saved meanwhile, which is tried at once", async () => {
    const { workspace, card } = await world.automatic("mended");
    world.stub.account.cards.set(card, "chargeDeclined");
    await world.leave(workspace, 1);
    await world.check();
    await world.pay("mended", "5");
    await world.deliver(world.stub.event("payment_intent.succeeded"));
    await world.check();
    expect(await world.settings("mended")).toMatchObject({ declines: 0, enabled: true });
    expect(await world.balance(workspace)).toBe("56.000000000");
  });

  test("is off at once after a decline that no later try changes", async () => {
    const { workspace, card } = await world.automatic("stolen");
    world.stub.account.cards.set(card, "chargeDeclinedLostCard");
    await world.leave(workspace, 5);
    await world.check();
    expect((await world.topUps("stolen"))[0]).toMatchObject({ state: "failed", failure: "lost_card", retry_at: null });
    expect(await world.settings("stolen")).toMatchObject({ enabled: false, declines: 1 });
  });

  test("is off and raises an alarm when Stripe refuses the call, which is not repeated", async () => {
    const { workspace, card } = await world.automatic("refused");
    world.stub.account.cards.delete(card);
    await world.leave(workspace, 5);
    await world.check();
    expect((await world.topUps("refused"))[0]).toMatchObject({ state: "failed", failure: "resource_missing" });
    expect(await world.settings("refused")).toMatchObject({ enabled: false });
    expect(world.control.logged.join("")).toContain("top_up.refused");
  });

  test("pauses when the bank wants to see a person, mails the way to Stripe's page, and goes on once they have paid", async () => {
    const { workspace, card } = await world.automatic("asking");
    world.stub.account.cards.set(card, "authenticationRequired");
    await world.leave(workspace, 5);
    await world.check();
    await world.check();
    const [topUp] = await world.topUps("asking");
    expect(topUp).toMatchObject({ kind: "automatic", state: "action_required", failure: "authentication_required" });
    expect(await world.settings("asking")).toMatchObject({ enabled: true, paused: true });
    expect(await statesOf("asking")).toEqual(["action_required"]);
    const [{ body } = { body: "" }] = await database.sql<{ body: string }[]>`
      SELECT body FROM mails WHERE recipient = 'admin@asking' ORDER BY id DESC LIMIT 1`;
    expect(body).toContain(String(topUp?.["url"]));
    world.stub.account.pay(world.stub.account.pageOf(String(topUp?.["id"])));
    await world.deliver(world.stub.event("payment_intent.succeeded"), 2);
    expect(await world.settings("asking")).toMatchObject({ enabled: true, paused: false });
    expect(await world.balance(workspace)).toBe("55.000000000");
    expect(await statesOf("asking")).toEqual(["credited"]);
  });

  test("asks for the page under another key after an error of Stripe, which would stay the answer to the first one for a day", async () => {
    const { workspace, card } = await world.automatic("broken-page");
    world.stub.account.cards.set(card, "authenticationRequired");
    world.stub.faults.set("POST /v1/checkout/sessions", ["error"]);
    await world.leave(workspace, 5);
    await world.check();
    expect((await world.topUps("broken-page"))[0]).toMatchObject({ state: "action_required", url: null });
    await world.sweep();
    const [topUp] = await world.topUps("broken-page");
    expect(topUp).toMatchObject({ state: "action_required", url: expect.stringContaining("https://checkout.stripe.test/") });
    world.stub.account.pay(world.stub.account.pageOf(String(topUp?.["id"])));
    await world.sweep();
    expect(await world.balance(workspace)).toBe("55.000000000");
  });

  test("is off, with a mail, when Stripe opens no page for the authentication, and works again once it is switched on", async () => {
    const { workspace, card } = await world.automatic("no-page");
    world.stub.account.cards.set(card, "authenticationRequired");
    world.stub.account.refusesPages = true;
    await world.leave(workspace, 5);
    await world.check();
    world.stub.account.refusesPages = false;
    expect((await world.topUps("no-page"))[0]).toMatchObject({ state: "failed", failure: "parameter_invalid" });
    expect(await world.settings("no-page")).toMatchObject({ enabled: false });
    expect(await world.mailsTo("admin@no-page")).toEqual(["Automatic top-up is off: the card was declined"]);
    world.stub.account.cards.set(card, "visa");
    world.control.clock.advance(1);
    await world.control.expect("PATCH", "/top-up-settings", { body: { workspace: "no-page", enabled: true } });
    expect(await world.balance(workspace)).toBe("55.000000000");
  });

  test("is off when the card is removed at Stripe", async () => {
    const { card } = await world.automatic("removed");
    expect(await world.deliver(world.stub.emit("payment_method.detached", { id: card }), 2)).toEqual([200, 200]);
    expect(await world.settings("removed")).toMatchObject({ card: null, enabled: false });
    expect(await world.mailsTo("admin@removed")).toEqual(["Automatic top-up is off: the saved card was removed"]);
  });
});
