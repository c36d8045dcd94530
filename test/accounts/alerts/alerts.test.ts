/** Alert rules, and the alerts that settled charges cause: once, and to the people they concern. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { raiseAlert } from "../../../src/accounts/alerts/alerts.ts";
import { watchSpend } from "../../../src/accounts/alerts/watch-spend.ts";
import { alertKeptMs, alertLateMs, alertWatchAgeMs } from "../../../src/accounts/limits.ts";
import { selectCallerId } from "../../../src/accounts/members/store.ts";
import { openBudgets } from "../../../src/gateway/credit/store.ts";
import { reportUsage } from "../../../src/gateway/usage/report.ts";
import { dayOf, monthBounds, monthOf } from "../../../src/kernel/clock.ts";
import { silentLog } from "../../../src/kernel/log.ts";
import { Control } from "../../support/control.ts";
import { book, settlement } from "../../support/gateway/settlements.ts";
import { oneDatabase, type TestDatabase } from "../../support/servers/databases.ts";
import { FakeBus } from "../../support/servers/fake-bus.ts";

const nanoPerCent = 10_000_000n;

describe.each(oneDatabase)("alerts on $name", ({ open }) => {
  let database: TestDatabase;
  let control: Control;
  const bus = new FakeBus();
  beforeAll(async () => {
    database = await open();
    control = new Control(database.sql);
    await database.sql`SELECT make_generations_month('2026-12')`;
  }, 60_000);
  afterAll(() => database[Symbol.asyncDispose]());

  /** Each a moment later, so that ids sort by the look that made them. */
  const look = () => {
    control.clock.advance(1);
    return watchSpend({ sql: database.sql, bus, clock: control.clock });
  };
  const rule = (workspace: string, form: object, as?: string) =>
    control.expect("POST", "/alert-rules", { body: { workspace, ...form }, ...(as !== undefined && { as }) });
  const texts = async (workspace: string) =>
    (await control.list(`/alerts?workspace=${workspace}`)).map(({ text }) => String(text));
  const mails = async (workspace: string) =>
    (await database.sql`SELECT recipient, subject, body FROM mails WHERE recipient LIKE ${`%@${workspace}`} ORDER BY id`).map(
      ({ recipient, subject, body }) => ({ recipient: String(recipient), subject: String(subject), body: String(body) }),
    );
  /** Charges this many cents to a key. */
  async function spend(cents: number, { workspace, key }: { workspace: string; key: string }): Promise<void> {
    const nano = BigInt(cents) * nanoPerCent;
    const usage = {
      promptTokens: Number(nano / 1_000n),
      cachedTokens: 0,
      cacheWriteTokens: 0,
      completionTokens: 0,
      reasoningTokens: 0,
    };
    const facts = { workspace, key, usage, reserved: String(nano), admittedAt: control.clock.now() };
    await book(database.sql, settlement(facts));
  }
  /** A workspace with 100 USD, and a key of its member with a limit of 10 USD. */
  async function customer(name: string): Promise<{ workspace: string; key: string }> {
    const workspace = await control.workspace(name, "100");
    return { workspace, key: (await control.key(name, { name: "build", monthly_spend_limit_usd: "10" })).id };
  }

  test("thresholds above a limit, kinds without what they need and rules that tell nobody are refused by field", async () => {
    await control.workspace("bad", "100");
    const refused = (form: object) => control.refusal("POST", "/alert-rules", { body: { workspace: "bad", ...form } });
    expect(await refused({ kind: "key_month", percents: [80, 101] })).toBe("400 invalid_field percents");
    expect(await refused({ kind: "key_month", percents: [0] })).toBe("400 invalid_field percents");
    expect(await refused({ kind: "key_month", percents: [] })).toBe("400 invalid_field percents");
    expect(await refused({ kind: "key_month", percents: [1.5] })).toBe("400 invalid_field percents");
    expect(await refused({ kind: "key_month", balance_usd: "5" })).toBe("400 invalid_field balance_usd");
    expect(await refused({ kind: "balance" })).toBe("400 invalid_field balance_usd");
    expect(await refused({ kind: "balance", balance_usd: "-5" })).toBe("400 invalid_field balance_usd");
    expect(await refused({ kind: "balance", balance_usd: "5", percents: [50] })).toBe("400 invalid_field percents");
    expect(await refused({ kind: "nothing" })).toBe("400 invalid_field kind");
    expect(await refused({ kind: "key_month", mail: false, webhooks: false })).toBe("400 invalid_field webhooks");
    expect(await refused({ kind: "top_up_failed", mail: false })).toBe("400 invalid_field mail");
    await rule("bad", { kind: "balance", balance_usd: "5" });
    expect(await refused({ kind: "balance", balance_usd: "5.0" })).toBe("409 conflict kind");
  });

  test("only admins set rules, with their role in the audit log; auditors see them, members and strangers do not", async () => {
    await control.workspace("rights");
    await control.workspace("elsewhere");
    const { id } = await rule("rights", { kind: "workspace_month" }, "admin@rights");
    const path = `/alert-rules/${String(id)}`;
    for (const as of ["member@rights", "auditor@rights"]) {
      const body = { workspace: "rights", kind: "key_month" };
      expect(await control.refusal("POST", "/alert-rules", { as, body })).toBe("403 forbidden null");
      expect(await control.refusal("DELETE", path, { as })).toBe("403 forbidden null");
    }
    expect(await control.list("/alert-rules?workspace=rights", { as: "auditor@rights" })).toHaveLength(1);
    for (const list of ["alert-rules", "alert-webhooks", "alerts"]) {
      expect(await control.refusal("GET", `/${list}?workspace=rights`, { as: "member@rights" })).toBe("403 forbidden null");
    }
    expect(await control.refusal("DELETE", path, { as: "admin@elsewhere" })).toBe("404 not_found id");
    await control.expect("DELETE", path, { as: "super_admin@rights" });
    const audited = await control.list("/audit?workspace=rights&limit=2");
    expect(audited.map(({ event, role, target }) => [event, role, target])).toEqual([
      ["alert.rule.deleted", "super_admin", id],
      ["alert.rule.created", "admin", id],
    ]);
    expect(audited[1]?.["changes"]).toMatchObject({ percents: { from: null, to: ["50", "80", "100"] } });
  });

  test("each threshold of a key is told once a month, to the admins and the key's owner, even by several processes at once", async () => {
    const on = await customer("acme");
    await rule("acme", { kind: "key_month" });
    await rule("acme", { kind: "workspace_month" });
    await spend(499, on);
    expect(await look()).toBe(0);
    await spend(1, on);
    expect((await Promise.all([look(), look(), look()])).toSorted()).toEqual([0, 0, 1]);
    expect(await look()).toBe(0);
    expect(await texts("acme")).toEqual([
      `50 % of the monthly limit of the key "build" (${on.key}) is spent: 5.00 of 10.00 USD in 2026-11`,
    ]);
    const told = await mails("acme");
    expect(told.map(({ recipient }) => recipient).toSorted()).toEqual(["admin@acme", "member@acme", "super_admin@acme"]);
    expect(told[0]).toMatchObject({
      subject: "50 % of the monthly limit of a key is spent",
      body: expect.stringContaining('"build"'),
    });
  });

  test("of several thresholds that are passed at once the highest is told, and none again in the month", async () => {
    const on = await customer("jump");
    await rule("jump", { kind: "key_month" });
    await spend(850, on);
    expect(await look()).toBe(1);
    await spend(10, on);
    expect(await look()).toBe(0);
    await spend(140, on);
    expect(await look()).toBe(1);
    expect((await texts("jump")).map((text) => text.slice(0, 5))).toEqual(["100 %", "80 % "]);
  });

  test("a workspace's limit is told, also of charges that settle after the month's end, and anew in the next month", async () => {
    const on = await customer("month");
    await control.expect("PATCH", "/workspaces/month", { body: { spend_limit_usd: "1" } });
    await rule("month", { kind: "workspace_month", percents: [90] });
    const until = Date.UTC(2026, 11, 1);
    control.clock.advance(until - control.clock.now() - 1_000);
    await spend(95, on);
    control.clock.advance(1_000 + alertLateMs - 2);
    expect(await look()).toBe(1);
    await spend(95, on);
    expect(await look()).toBe(1);
    expect((await texts("month")).map((text) => text.slice(-7))).toEqual(["2026-12", "2026-11"]);
  });

  test("budgets are told by their day or month, to the member whom they concern", async () => {
    const on = await customer("budgets");
    await control.expect("PATCH", `/keys/${on.key}`, { body: { daily_spend_limit_usd: "2" } });
    await control.expect("PATCH", "/workspaces/budgets", { body: { daily_spend_limit_usd: "4" } });
    const limit = { workspace: "budgets", monthly_spend_limit_usd: "3" };
    await control.expect("PATCH", "/members/member@budgets", { body: limit });
    for (const kind of ["key_day", "workspace_day", "member_month"]) await rule("budgets", { kind, percents: [50] });
    const caller = await selectCallerId({ workspace: on.workspace, email: "member@budgets" }, database.sql);
    const [since, month] = [dayOf(control.clock.now()), monthBounds(monthOf(control.clock.now())).startMs];
    const days = [`day:${on.key}`, "day:"].map((name) => ({ name, since }));
    await openBudgets({ ...on, totals: [...days, { name: `month:${caller}`, since: month }] }, database.sql);
    await spend(200, on);
    expect(await look()).toBe(3);
    const [day, ofMonth] = [new Date(since).toISOString().slice(0, 10), monthOf(since)];
    expect((await texts("budgets")).toSorted()).toEqual([
      `50 % of the daily limit of the key "build" (${on.key}) is spent: 2.00 of 2.00 USD in ${day}`,
      `50 % of the daily limit of the workspace is spent: 2.00 of 4.00 USD in ${day}`,
      `50 % of the monthly limit of the member member@budgets is spent: 2.00 of 3.00 USD in ${ofMonth}`,
    ]);
  });

  test("a limit that is lowered is told although nothing is charged", async () => {
    const on = await customer("lowered");
    await rule("lowered", { kind: "key_month", percents: [100] });
    await spend(200, on);
    expect(await look()).toBe(0);
    await control.expect("PATCH", `/keys/${on.key}`, { body: { monthly_spend_limit_usd: "2" } });
    control.clock.advance(alertWatchAgeMs + 1);
    expect(await look()).toBe(1);
  });

  test("a report of a day comes once, an hour after its end, with what was spent by model and key; one of a week after Sunday", async () => {
    const on = await customer("report");
    await rule("report", { kind: "usage_day" });
    await rule("report", { kind: "usage_week", mail: false });
    await spend(250, on);
    const report = () => reportUsage({ sql: database.sql, bus, clock: control.clock, log: silentLog });
    expect(await report()).toBe(0);
    const dayMs = 86_400_000;
    const end = (Math.floor(control.clock.now() / dayMs) + 1) * dayMs;
    const day = new Date(end - dayMs).toISOString().slice(0, 10);
    control.clock.advance(end + alertLateMs - 1 - control.clock.now());
    expect(await report()).toBe(0);
    control.clock.advance(1);
    expect((await Promise.all([report(), report()])).toSorted()).toEqual([0, 1]);
    expect(await report()).toBe(0);
    expect(await texts("report")).toEqual([`In ${day} the workspace spent 2.50 USD with 1 request, of which 0 failed`]);
    const sent = await mails("report");
    expect(sent.map(({ recipient }) => recipient)).toEqual(["admin@report", "super_admin@report"]);
    expect(sent[0]).toMatchObject({
      subject: `Usage of ${day}`,
      body: expect.stringMatching(/By key:\n\n- build: 2\.500000000 USD, 1 request\n/),
    });
    for (let days = 0; days < 7; days++) {
      control.clock.advance(dayMs);
      await report();
    }
    const weeks = (await texts("report")).filter((text) => text.includes("the week from"));
    expect(weeks).toHaveLength(1);
    expect(new Date(/from ([\d-]+)/.exec(weeks[0] ?? "")?.[1] ?? "").getUTCDay()).toBe(1);
  });

  test("a low balance is told once, and again only after it was a quarter above the amount", async () => {
    const on = await customer("poor");
    await rule("poor", { kind: "balance", balance_usd: "80" });
    await spend(2_000, on);
    expect(await look()).toBe(0);
    await spend(1, on);
    expect(await look()).toBe(1);
    const add = (usd: string) => control.expect("POST", "/credit", { body: { workspace: "poor", usd, ref: usd } });
    // 99.99 USD: above the amount, but not well above.
    await add("20");
    expect(await look()).toBe(0);
    await spend(2_000, on);
    expect(await look()).toBe(0);
    await add("20.01");
    expect(await look()).toBe(0);
    expect(await control.list("/alert-rules?workspace=poor")).toMatchObject([{ armed: true }]);
    await spend(2_001, on);
    expect(await look()).toBe(1);
    expect(await texts("poor")).toEqual([
      "The balance is 79.99 USD, below 80.00 USD. At zero, requests are refused",
      "The balance is 79.99 USD, below 80.00 USD. At zero, requests are refused",
    ]);
  });

  test("a rule watches a single key or member, which the workspace has, and another key's spend raises nothing", async () => {
    const on = await customer("single");
    const other = await control.key("single", { name: "other", monthly_spend_limit_usd: "10" });
    await control.workspace("stranger");
    const foreign = await control.key("stranger", {});
    const refused = (form: object) => control.refusal("POST", "/alert-rules", { body: { workspace: "single", ...form } });
    expect(await refused({ kind: "key_month", only: foreign.id })).toBe("400 invalid_field only");
    expect(await refused({ kind: "member_month", only: "admin@stranger" })).toBe("400 invalid_field only");
    expect(await refused({ kind: "workspace_month", only: on.key })).toBe("400 invalid_field only");
    expect(await rule("single", { kind: "member_month", only: "Member@Single" })).toMatchObject({ only: "member@single" });
    await rule("single", { kind: "key_month", only: on.key, percents: [50] });
    expect(await refused({ kind: "key_month", only: on.key })).toBe("409 conflict kind");
    await spend(600, { workspace: on.workspace, key: other.id });
    expect(await look()).toBe(0);
    await spend(600, on);
    expect(await look()).toBe(1);
  });

  test("an edited rule reports a new threshold that is already passed, none twice, and a balance with a new amount anew", async () => {
    const on = await customer("edited");
    const { id } = await rule("edited", { kind: "key_month", percents: [50, 100] });
    const edit = (body: object, as = "admin@edited") => control.expect("PATCH", `/alert-rules/${String(id)}`, { as, body });
    await spend(800, on);
    expect(await look()).toBe(1);
    expect(await edit({ percents: [50, 75], webhooks: false })).toMatchObject({
      percents: [50, 75],
      mail: true,
      webhooks: false,
    });
    expect([await look(), await look()]).toEqual([1, 0]);
    expect((await texts("edited")).map((text) => text.slice(0, 4))).toEqual(["75 %", "50 %"]);
    const [audited] = await control.list("/audit?workspace=edited&limit=1");
    expect(audited).toMatchObject({ event: "alert.rule.updated", changes: { webhooks: { from: true, to: false } } });
    await edit({ percents: [75, 50] });
    expect((await control.list("/audit?workspace=edited&limit=1"))[0]?.["id"]).toBe(audited?.["id"]);
    const poor = await rule("edited", { kind: "balance", balance_usd: "95" });
    expect([await look(), await look()]).toEqual([1, 0]);
    const path = `/alert-rules/${String(poor["id"])}`;
    expect(await control.expect("PATCH", path, { body: { balance_usd: "94" } })).toMatchObject({ armed: true });
    expect(await look()).toBe(1);
    expect(await control.refusal("PATCH", path, { body: { percents: [50] } })).toBe("400 invalid_field percents");
    for (const as of ["member@edited", "auditor@edited"])
      expect(await control.refusal("PATCH", path, { as, body: { balance_usd: "1" } })).toBe("403 forbidden null");
    expect(await control.refusal("PATCH", path, { as: "admin@stranger", body: { balance_usd: "1" } })).toBe("404 not_found id");
  });

  test("an event is told by one mail to each admin, with a rule and without, and the same event once", async () => {
    const workspace = await control.workspace("event");
    const raise = (occurrence: string) =>
      database.sql.begin((tx) =>
        raiseAlert(
          {
            workspace,
            kind: "top_up_failed",
            subject: "top-1",
            occurrence,
            text: "The top-up of 20.00 USD failed",
            data: {},
            mail: { subject: "A top-up failed", body: "It did." },
          },
          { sql: tx, clock: control.clock },
        ),
      );
    await raise("1");
    await raise("1");
    await rule("event", { kind: "top_up_failed" });
    await raise("2");
    const admins = ["admin@event", "super_admin@event"];
    expect((await mails("event")).map(({ recipient }) => recipient)).toEqual([...admins, ...admins]);
    expect(await texts("event")).toHaveLength(2);
  });

  test("alerts are listed page by page", async () => {
    const first = await control.expect("GET", "/alerts?workspace=poor&limit=1");
    const second = await control.expect("GET", `/alerts?workspace=poor&limit=1&before=${String(first["next"])}`);
    expect([first["data"], second["data"]].flat()).toEqual(await control.list("/alerts?workspace=poor"));
    expect(second["next"]).toBeNull();
  });

  test("alerts are kept for 90 days", async () => {
    control.clock.advance(alertKeptMs - 60_000);
    await look();
    expect(await texts("poor")).toHaveLength(2);
    control.clock.advance(60_000);
    await look();
    expect(await texts("poor")).toEqual([]);
  });
});
