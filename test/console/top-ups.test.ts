/** Credit by card in the Console: paying, automatic top-up, one payment, and each role. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ConsoleWorld, type Browser } from "../support/console.ts";
import { oneDatabase, type TestDatabase } from "../support/servers/databases.ts";
import { TopUpWorld } from "../support/stripe/top-up-world.ts";

describe.each(oneDatabase)("credit by card on $name", ({ open }) => {
  let database: TestDatabase;
  let world: ConsoleWorld;
  let topUps: TopUpWorld;
  let admin: Browser;
  beforeAll(async () => {
    database = await open();
    world = new ConsoleWorld(database.sql);
    await world.control.workspace("acme", "1");
    admin = await world.signIn("admin@acme");
  });
  afterAll(async () => {
    topUps[Symbol.dispose]();
    await database[Symbol.asyncDispose]();
  });
  const path = "/console/w/acme/top-ups";

  test("without a key of Stripe the pages say that cards are not taken, and offer nothing", async () => {
    for (const page of [path, "/console/w/acme/settings"]) {
      const { text } = await world.get(page, admin);
      expect(text).toContain("This service accepts no cards");
      expect(text).not.toContain("Continue to Stripe");
    }
    const { status } = await world.post(path, { action: "create", usd: "20" }, admin);
    expect(status).toBe(409);
    topUps = new TopUpWorld(database.sql, world.control);
  });

  test("an admin goes to Stripe's page, comes back to a credited payment, and then sees the saved card", async () => {
    expect((await world.get(path, admin)).text).toContain("Automatic top-up needs a saved card");
    const { text } = await world.post(path, { action: "create", usd: "20" }, admin);
    const [, url = ""] = /href="(https:\/\/checkout\.stripe\.test\/\w+)"/.exec(text) ?? [];
    const session = topUps.stub.account.session(url.split("/").at(-1) ?? "");
    topUps.stub.account.pay(session);
    // No event has come yet.
    const shown = await world.get(`${path}/${session.client_reference_id}`, admin);
    expect(shown.text).toContain("It is part of the credit");
    const list = (await world.get(path, admin)).text;
    expect(list).toContain("<bdi>Visa</bdi> ending in");
    expect(list).toContain("admin@acme");
    expect((await world.get("/console/w/acme/settings", admin)).text).toContain("<bdi>Visa</bdi> ending in");
  });

  test("what is wrong stands beside its field, with what was typed", async () => {
    const low = await world.post(path, { action: "create", usd: "<b>4" }, admin);
    expect(low.status).toBe(400);
    expect(low.text).toContain('value="&#60;b&#62;4"');
    const form = { action: "automatic", enabled: "true", threshold_usd: "300", amount_usd: "20", monthly_cap_usd: "200" };
    const high = await world.post(path, form, admin);
    expect(high.text).toContain("the threshold is above the monthly cap");
    expect((await world.post(path, { ...form, amount_usd: "2500.01" }, admin)).status).toBe(400);
    const saved = await world.post(path, { ...form, threshold_usd: "5" }, admin);
    expect(saved.status).toBe(303);
    expect(await topUps.settings("acme")).toMatchObject({ enabled: true, threshold_usd: "5.000000000" });
  });

  test("a member does not see it, an auditor reads it, and only the operator refunds", async () => {
    const member = await world.signIn("member@acme");
    expect((await world.get(path, member)).status).toBe(403);
    expect((await world.get("/console/w/acme/settings", member)).text).not.toContain("Credit by card");
    const auditor = (await world.get(path, await world.signIn("auditor@acme"))).text;
    expect(auditor).toContain("Only admins top up. Your role is auditor.");
    expect(auditor).not.toContain("Continue to Stripe");
    const [topUp] = await topUps.topUps("acme");
    const one = `${path}/${String(topUp?.["id"])}`;
    expect((await world.get(one, admin)).text).not.toContain("A refund cannot be undone");
    const operator = await world.signIn(null);
    expect((await world.get(one, operator)).text).toContain("A refund cannot be undone");
    expect((await world.post(one, { action: "refund", usd: "5" }, operator)).status).toBe(303);
    expect((await world.get(one, admin)).text).toContain("succeeded");
  });

  test("an admin has the card forgotten, here and at Stripe", async () => {
    expect((await world.post(path, { action: "remove-card" }, admin)).status).toBe(303);
    expect(await topUps.settings("acme")).toMatchObject({ card: null, enabled: false });
    expect(topUps.stub.account.cards.size).toBe(0);
  });
});
