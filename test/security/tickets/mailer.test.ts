/** Mails through a real SMTP server that refuses, stops and returns. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { silentLog } from "../../../src/kernel/log.ts";
import { Secret } from "../../../src/kernel/secret.ts";
import { mailAttemptsMax, mailRetryMsMax } from "../../../src/accounts/limits.ts";
import { insertMail } from "../../../src/accounts/mails/store.ts";
import { startMailer } from "../../../workers/mailer.ts";
import { Control } from "../../support/control.ts";
import { databases, type TestDatabase } from "../../support/servers/databases.ts";
import { FakeBus } from "../../support/servers/fake-bus.ts";
import { headerOf, TestMailServer } from "../../support/servers/mail-server.ts";
import { ToolsApi } from "../../support/security/tools-api.ts";
import { until } from "../../support/until.ts";

const from = { name: "Weir", address: "weir@example.test" };

describe.each(databases)("mails on $name", ({ open, runsAll }) => {
  let database: TestDatabase;
  let control: Control;
  let api: ToolsApi;
  beforeAll(async () => {
    database = await open();
    control = new Control(database.sql);
    await control.workspace("w");
    const { key } = await control.key("w", { kind: "tools" });
    api = new ToolsApi(database.sql, key, { clock: control.clock });
  }, 60_000);
  afterAll(() => database[Symbol.asyncDispose]());

  const start = (server: TestMailServer, bus = new FakeBus()) =>
    startMailer({
      sql: database.sql,
      bus,
      mail: { smtpUrl: new Secret(server.url), from },
      lock: async () => new AsyncDisposableStack(),
      clock: control.clock,
      log: silentLog,
    });
  const file = (message: string) => api.data("submit_feedback", { message });
  const state = async (ticket: unknown) => {
    const [row] = await database.sql`SELECT state, attempts, failure, message_id FROM mails WHERE ticket_id = ${String(ticket)}`;
    return row ?? {};
  };
  const settled = (ticket: unknown) => until(async () => (await state(ticket))["state"] !== "waiting");

  test("a mail that acknowledges no ticket has a Message-ID of its own", async () => {
    await using server = await TestMailServer.start();
    const mail = { ticket: null, recipient: "admin@w", subject: "Your own key for alpha was refused", body: "It was." };
    await database.sql.begin((tx) => insertMail({ ...mail, at: new Date(control.clock.now()) }, tx));
    await using _mailer = start(server);
    await until(() => server.taken.length === 1);
    const [taken] = server.taken;
    expect(taken?.to).toEqual(["admin@w"]);
    expect(taken && headerOf(taken, "Subject")).toBe(mail.subject);
    expect(taken && headerOf(taken, "Message-ID")).toMatch(/^<mail-[0-9]+@example\.test>$/);
    await until(async () => (await database.sql`SELECT FROM mails WHERE ticket_id IS NULL AND state = 'sent'`).length === 1);
  });

  if (!runsAll) return;

  test("an acknowledgement goes to the key's owner with the ticket's reference and no other text of the ticket in a header", async () => {
    await using server = await TestMailServer.start();
    const ticket = await file("Very good\r\nBcc: everybody@example.test\r\n\r\nforged");
    await using _mailer = start(server);
    await settled(ticket["ticket_id"]);
    const [mail] = server.taken;
    if (!mail) throw new Error("No mail");
    expect([mail.from, mail.to]).toEqual(["weir@example.test", ["member@w"]]);
    expect(headerOf(mail, "From")).toBe("Weir <weir@example.test>");
    expect(headerOf(mail, "To")).toBe("member@w");
    expect(headerOf(mail, "Subject")).toBe(`[${String(ticket["reference"])}] We received your feedback`);
    expect(headerOf(mail, "Message-ID")).toBe(`<${String(ticket["ticket_id"])}@example.test>`);
    expect(headerOf(mail, "Auto-Submitted")).toBe("auto-replied");
    expect(headerOf(mail, "Content-Type")).toStartWith("text/plain");
    expect(headerOf(mail, "Bcc")).toBeUndefined();
    expect(server.taken).toHaveLength(1);
  });

  test("an owner's address that looks like several addresses gets no mail, and no other address does", async () => {
    await using server = await TestMailServer.start();
    await control.expect("POST", "/members", { body: { workspace: "w", email: "a,b@example.test", role: "member" } });
    const { key } = await control.key("w", { kind: "tools", owner: "a,b@example.test" });
    const ticket = await api.data("submit_feedback", { message: "From a strange address" }, { key });
    await using _mailer = start(server);
    await settled(ticket["ticket_id"]);
    expect(server.taken).toEqual([]);
    expect(await state(ticket["ticket_id"])).toMatchObject({ state: "given_up", attempts: 1 });
  });

  test("an unreachable server counts as no attempt, and gets the mail when it returns", async () => {
    await using server = await TestMailServer.start();
    await server.goAway();
    const bus = new FakeBus();
    await using _mailer = start(server, bus);
    await until(() => control.clock.pending > 0);
    const ticket = await file("Nobody is there");
    for (let round = 0; round < 5; round++) {
      await until(() => control.clock.pending > 0);
      control.clock.advance(60_000);
    }
    expect(await state(ticket["ticket_id"])).toMatchObject({ state: "waiting", attempts: 0 });
    await server.open();
    await until(async () => {
      control.clock.advance(60_000);
      return server.taken.length > 0;
    });
    await settled(ticket["ticket_id"]);
    expect(await state(ticket["ticket_id"])).toMatchObject({ state: "sent", attempts: 1 });
    expect(server.taken).toHaveLength(1);
  });

  test("a temporarily refused mail is sent again with the same Message-ID after longer and longer pauses, at most ten times", async () => {
    await using server = await TestMailServer.start();
    server.refusal = () => ({ code: 451, when: "message" });
    const ticket = await file("Busy");
    await using _mailer = start(server);
    const tries = async () => Number((await state(ticket["ticket_id"]))["attempts"]);
    const pauses: number[] = [];
    for (let attempt = 1; attempt <= mailAttemptsMax; attempt++) {
      await until(async () => (await tries()) === attempt);
      if (attempt === mailAttemptsMax) break;
      await until(async () => {
        const [row] = await database.sql`SELECT due_at, failure FROM mails WHERE ticket_id = ${String(ticket["ticket_id"])}`;
        const pause = new Date(String(row?.["due_at"])).getTime() - control.clock.now();
        if (pause <= 0) return false;
        pauses.push(Math.round(pause / 1_000) * 1_000);
        return true;
      });
      await until(() => control.clock.pending > 0);
      control.clock.advance(pauses.at(-1) ?? 0);
      control.clock.advance(10_000);
    }
    await settled(ticket["ticket_id"]);
    expect(pauses.slice(0, 3)).toEqual([60_000, 120_000, 240_000]);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(mailRetryMsMax);
    expect(await state(ticket["ticket_id"])).toMatchObject({ state: "given_up", attempts: mailAttemptsMax });
    expect(server.taken).toEqual([]);
  });

  test("a permanently refused recipient gets no second attempt", async () => {
    await using server = await TestMailServer.start();
    server.refusal = () => ({ code: 550, when: "recipient" });
    const ticket = await file("To nobody");
    await using _mailer = start(server);
    await settled(ticket["ticket_id"]);
    expect(await state(ticket["ticket_id"])).toMatchObject({ state: "given_up", attempts: 1, failure: "EENVELOPE RCPT TO 550" });
  });

  test("a mail is sent as soon as the tools API sends the notification", async () => {
    await using server = await TestMailServer.start();
    const bus = new FakeBus();
    await using _mailer = start(server, bus);
    await until(() => control.clock.pending > 0);
    const ticket = await file("At once");
    bus.broadcast("mail-waits");
    await settled(ticket["ticket_id"]);
    expect(server.taken).toHaveLength(1);
  });
});
