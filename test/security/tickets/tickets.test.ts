/** Feedback, bugs and support requests become tickets that their owner can follow. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { oneDatabase } from "../../support/servers/databases.ts";
import { ToolsApi, toolsStage, type ToolsStage } from "../../support/security/tools-api.ts";

const bug = { expected_behavior: "It works", actual_behavior: "It does not" };

describe.each(oneDatabase)("tickets on $name", ({ open }) => {
  let stage: ToolsStage;
  beforeAll(async () => {
    stage = await toolsStage(open);
  }, 60_000);
  afterAll(() => stage[Symbol.asyncDispose]());

  const mailsOf = async (ticket: unknown) =>
    stage.database.sql`SELECT recipient, subject, state FROM mails WHERE ticket_id = ${String(ticket)}`;

  test.each([
    ["submit_feedback", { message: "Good" }, /^FB-[0-9A-HJKMNP-TV-Z]{8}$/, "feedback", "queued"],
    ["report_bug", bug, /^BUG-[0-9A-HJKMNP-TV-Z]{8}$/, "bug", "queued"],
    ["create_support_request", { subject: "Help", message: "Please" }, /^SUP-[0-9A-HJKMNP-TV-Z]{8}$/, "support", null],
  ])("%s logs a ticket and confirms it", async (operation, input, reference, type, mail) => {
    const waitingBefore = stage.api.notified.count("mail-waits");
    const data = await stage.api.data(operation, input);
    expect(data).toEqual({
      ticket_id: expect.stringMatching(/^tkt_[2-7a-z]{26}$/),
      reference: expect.stringMatching(reference),
      type,
      status: "open",
      acknowledgement_email: mail,
      attachment: null,
    });
    const mails = await mailsOf(data["ticket_id"]);
    expect(mails.map(({ recipient }) => recipient)).toEqual(mail === null ? [] : ["member@w"]);
    expect(stage.api.notified.count("mail-waits") - waitingBefore).toBe(mails.length);
  });

  test("all fields of a call are stored except the path of an attachment", async () => {
    const input = {
      ...bug,
      title: "Broken",
      severity: "high",
      tool_name: "list_findings",
      context: "Looking",
      steps_to_reproduce: "1\n2",
    };
    const { ticket_id: id } = await stage.api.data("report_bug", { ...input, attachment_path: "/tmp/x" });
    const [row] = await stage.database.sql`SELECT subject, details FROM tickets WHERE id = ${String(id)}`;
    expect(row).toEqual({ subject: "Broken", details: input });
  });

  test("a ticket and its mail are stored together or not at all", async () => {
    await stage.database.sql`ALTER TABLE mails ADD CONSTRAINT none CHECK (recipient = '') NOT VALID`;
    try {
      expect((await stage.api.call("submit_feedback", { message: "All or nothing" })).status).toBe(500);
    } finally {
      await stage.database.sql`ALTER TABLE mails DROP CONSTRAINT none`;
    }
    const rows = await stage.database.sql`SELECT 1 FROM tickets WHERE details ->> 'message' = 'All or nothing'`;
    expect(rows).toHaveLength(0);
  });

  test("the same call within ten minutes, even at the same time, is one ticket and one mail", async () => {
    const input = { message: "Twice", rating: 5 };
    const data = await Promise.all([1, 2, 3, 4].map(() => stage.api.data("submit_feedback", input)));
    data.push(await stage.api.data("submit_feedback", { rating: 5, message: "Twice" }));
    expect(new Set(data.map((one) => one["reference"])).size).toBe(1);
    expect(await mailsOf(data[0]?.["ticket_id"])).toHaveLength(1);
    const { body } = await stage.api.call("submit_feedback", input);
    expect(String(body["message"])).toStartWith("This was logged a moment ago as FB-");
    stage.control.clock.advance(600_000);
    expect((await stage.api.data("submit_feedback", input))["reference"]).not.toBe(data[0]?.["reference"]);
  });

  test("the same call of another person is another ticket", async () => {
    const input = { message: "Shared thought" };
    const key = await stage.key("auditor@w").catch(() => stage.key("super_admin@w"));
    const mine = await stage.api.data("submit_feedback", input);
    const theirs = await stage.api.data("submit_feedback", input, { key });
    expect(theirs["reference"]).not.toBe(mine["reference"]);
  });

  test("attachment_path is ignored over HTTP, and the message says so", async () => {
    const { status, body } = await stage.api.call("submit_feedback", { message: "With a file", attachment_path: "/etc/passwd" });
    expect([status, body["message"]]).toEqual([200, expect.stringContaining("attachment_path was ignored")]);
  });

  test("a subject is the beginning of the text as one line, cut at a word", async () => {
    await stage.api.data("submit_feedback", { message: `First line\nsecond ${"word ".repeat(40)}` });
    const { tickets } = await stage.api.data("list_my_tickets", { type: "feedback", limit: 200 });
    const subjects = (tickets as { subject: string }[]).map(({ subject }) => subject);
    expect(subjects).toContain(`First line second ${"word ".repeat(12).trim()}…`);
  });

  test("without a mail server the acknowledgement waits, and the message says so", async () => {
    const silent = new ToolsApi(stage.database.sql, await stage.key(), { clock: stage.control.clock, sendsMail: false });
    const { body } = await silent.call("submit_feedback", { message: "Silence" });
    expect(String(body["message"])).toEndWith("An acknowledgement to member@w waits until this service can send mail");
    expect((await mailsOf((body["data"] as Record<string, unknown>)["ticket_id"]))[0]?.["state"]).toBe("waiting");
  });

  describe("list_my_tickets", () => {
    let key = "";
    beforeAll(async () => {
      key = await stage.key("super_admin@w");
      await stage.database.sql`DELETE FROM mails`;
      await stage.database.sql`DELETE FROM tickets`;
      for (let n = 0; n < 7; n++) await stage.api.data("submit_feedback", { message: `Number ${n}` }, { key });
      await stage.api.data("report_bug", bug, { key });
      await stage.api.data("submit_feedback", { message: "Somebody else's" });
    });
    const list = (input: object = {}) => stage.api.data("list_my_tickets", input, { key });

    test("list_my_tickets shows the caller's own tickets, newest first, with total, limit, offset and has_more", async () => {
      const { tickets, ...page } = await list();
      expect(page).toEqual({ total: 8, limit: 25, offset: 0, has_more: false });
      const rows = tickets as Record<string, string>[];
      expect(Object.keys(rows[0] ?? {}).toSorted()).toEqual([
        "created_at",
        "id",
        "reference",
        "status",
        "subject",
        "type",
        "updated_at",
      ]);
      expect(rows.map(({ created_at }) => created_at)).toEqual(
        rows
          .map(({ created_at }) => created_at)
          .toSorted()
          .toReversed(),
      );
    });

    test("list_my_tickets has each ticket once for any page size, and full pages while there are more", async () => {
      for (const limit of [1, 3, 8]) {
        const ids: string[] = [];
        for (let offset = 0, more: unknown = true; more === true; offset += limit) {
          const { tickets, has_more: next } = await list({ limit, offset });
          const rows = tickets as { id: string }[];
          if (next === true) expect(rows).toHaveLength(limit);
          ids.push(...rows.map(({ id }) => id));
          more = next;
        }
        expect([ids.length, new Set(ids).size]).toEqual([8, 8]);
      }
    });

    test("list_my_tickets filters by type and status, and advises the status all when the list is empty", async () => {
      expect(await list({ type: "bug" })).toMatchObject({ total: 1 });
      expect(await list({ type: "support" })).toMatchObject({ total: 0, tickets: [] });
      const { body } = await stage.api.call("list_my_tickets", { status: "closed" }, { key });
      expect(body["message"]).toBe('0 of 0 tickets. None is closed: ask again with the status "all"');
    });

    test("list_my_tickets has an empty page beyond the end, with the total", async () => {
      expect(await list({ offset: Number.MAX_SAFE_INTEGER })).toMatchObject({ total: 8, tickets: [], has_more: false });
      expect(await stage.api.refusal("list_my_tickets", { offset: 2 ** 53 }, { key })).toContain(
        "a whole number of 0 or more is needed",
      );
    });

    test("list_my_tickets shows no ticket of the same person in another workspace", async () => {
      await stage.control.workspace("other");
      await stage.control.expect("POST", "/members", { body: { workspace: "other", email: "super_admin@w", role: "member" } });
      const { key: there } = await stage.control.key("other", { kind: "tools", owner: "super_admin@w" });
      expect(await stage.api.data("list_my_tickets", {}, { key: there })).toMatchObject({ total: 0 });
    });
  });
});
