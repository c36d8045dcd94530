/** The pages of settings, provider keys and audit. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { eventWords } from "../../src/console/pages/workspace/audit-page.ts";
import { newGenerationId } from "../../src/kernel/ids.ts";
import { ConsoleWorld, type Browser } from "../support/console.ts";
import { storePrompt } from "../support/gateway/stored-prompt.ts";
import { addProviders } from "../support/own-key-providers.ts";
import { book, settlement } from "../support/gateway/settlements.ts";
import { oneDatabase, type TestDatabase } from "../support/servers/databases.ts";

test("each event of the audit log has words", () => {
  const text = readFileSync(new URL("../../docs/reference/control-api.md", import.meta.url), "utf8");
  const [, listed = ""] = /^Events: ([^]+?)\n\n/m.exec(text) ?? [];
  const events = [...listed.matchAll(/`([a-z.]+\.[a-z]+)`/g)].map(([, event]) => event ?? "");
  expect(events.length).toBeGreaterThan(30);
  expect(events.filter((event) => eventWords(event) === event)).toEqual([]);
});

describe.each(oneDatabase)("the pages of a workspace on $name", ({ open }) => {
  let database: TestDatabase;
  let world: ConsoleWorld;
  let admin: Browser;
  let member: Browser;
  let operator: Browser;
  beforeAll(async () => {
    database = await open();
    world = new ConsoleWorld(database.sql);
    addProviders(world.control.parts);
    await world.control.workspace("acme", "10");
    admin = await world.signIn("admin@acme");
    member = await world.signIn("member@acme");
    operator = await world.signIn(null);
  });
  afterAll(() => database[Symbol.asyncDispose]());

  const at = (page: string) => `/console/w/acme/${page}`;
  const workspace = () => world.control.expect("GET", "/workspaces/acme");

  describe("settings", () => {
    const save = (fields: Record<string, string>, browser = admin) => world.post(at("settings"), fields, browser);

    test("zero data retention names the models that stop before it is saved", async () => {
      const { text } = await world.get(at("settings"), admin);
      expect(text).toContain("Zero data retention would stop 1 model");
      expect(text).toContain("stub/alpha");
      expect(text).not.toContain("stub/beta");
      await save({ action: "data", zero_data_retention: "true", "was.zero_data_retention": "" });
      expect((await world.get(at("settings"), admin)).text).toContain("Zero data retention is on, and stops 1 model");
      await save({ action: "data", "was.zero_data_retention": "true" });
      expect(await workspace()).toMatchObject({ zero_data_retention: false });
    });

    test("a form changes only what differs from what it showed, so that two people do not undo each other", async () => {
      const shown = { "was.zero_data_retention": "", "was.prompt_storage": "" };
      await save({ action: "data", ...shown, prompt_storage: "true" });
      await save({ action: "data", ...shown, zero_data_retention: "true" });
      expect(await workspace()).toMatchObject({ prompt_storage: true, zero_data_retention: true });
      await world.control.expect("PATCH", "/workspaces/acme", { body: { prompt_storage: false, zero_data_retention: false } });
    });

    test("a wrong limit is refused beside its field, with what was typed", async () => {
      const refused = await save({ action: "spending", spend_limit_usd: "lots", "was.spend_limit_usd": "" });
      expect([refused.status, refused.text.includes('id="spending-spend_limit_usd-problem"')]).toEqual([400, true]);
      expect(refused.text).toContain('value="lots"');
    });

    test("the operator changes early access word by word", async () => {
      await save({ action: "early", "early_access.routing": "true" }, operator);
      await save({ action: "early", "early_access.own_keys": "true" }, operator);
      expect(await workspace()).toMatchObject({ early_access: ["routing", "own_keys"] });
      await save({ action: "early", "was.early_access.routing": "true" }, operator);
      expect(await workspace()).toMatchObject({ early_access: ["own_keys"] });
      await world.control.expect("PATCH", "/workspaces/acme", { body: { early_access: [] } });
    });

    describe("stored prompts", () => {
      const question = at("settings/delete-prompts");
      const remove = (before: string, browser = admin) => world.post(question, { action: "delete-prompts", before }, browser);

      beforeAll(async () => {
        const { id } = await world.control.expect("PATCH", "/workspaces/acme", { body: { prompt_storage: true } });
        for (let n = 0; n < 2; n++) {
          await storePrompt({ workspace: String(id), generation: newGenerationId(world.control.clock.now()) }, world.control);
          world.control.clock.advance(1_000);
        }
        await world.control.expect("PATCH", "/workspaces/acme", { body: { prompt_storage: false } });
      });

      test("those who oversee the workspace see how many there are, and since when", async () => {
        for (const browser of [admin, await world.signIn("auditor@acme"), operator]) {
          const { text } = await world.get(at("settings"), browser);
          expect(text).toMatch(/2 prompts are stored, the oldest from <time[^>]*datetime="2026-11-20T12:00:00/);
        }
        expect((await world.get(at("settings"), member)).text).not.toContain("prompts are stored");
      });

      test("an admin sets how many days they are kept, or none", async () => {
        const shown = { action: "prompts", "was.prompt_retention_days": "" };
        expect((await save({ ...shown, prompt_retention_days: "30" })).status).toBe(303);
        expect(await workspace()).toMatchObject({ prompt_retention_days: 30 });
        expect((await world.get(at("settings"), admin)).text).toContain('value="30"');
        expect((await save({ action: "prompts", "was.prompt_retention_days": "30", prompt_retention_days: "" })).status).toBe(
          303,
        );
        expect(await workspace()).toMatchObject({ prompt_retention_days: null });
      });

      test.each(["0", "-1", "1.5", "1000000000", "many"])(
        "%s days are refused beside the field, and nothing changes",
        async (days) => {
          const refused = await save({ action: "prompts", "was.prompt_retention_days": "", prompt_retention_days: days });
          expect([refused.status, refused.text.includes('id="prompts-prompt_retention_days-problem"')]).toEqual([400, true]);
          expect(refused.text).toContain("Enter a whole number of days from 1 to 3650.");
          expect(await workspace()).toMatchObject({ prompt_retention_days: null });
        },
      );

      test("an admin deletes those of before a day, and a day that is none is refused beside the field", async () => {
        expect((await world.get(at("settings"), admin)).text).toContain(`href="${question}" data-opens="delete-prompts"`);
        for (const wrong of ["", "yesterday", "2026-13-45"]) {
          const refused = await remove(wrong);
          expect([refused.status, refused.text.includes('id="delete-prompts-before-problem"')], wrong).toEqual([400, true]);
        }
        expect((await remove("2026-11-20")).status).toBe(303);
        expect((await world.get(at("settings"), admin)).text).toContain("2 prompts are stored");
        expect((await remove("2026-11-21")).status).toBe(303);
        expect((await world.get(at("settings"), admin)).text).toContain("No prompt is stored.");
        const rows = await world.control.list("/audit?workspace=acme&event=prompts.deleted");
        expect(rows).toMatchObject([{ actor: "admin@acme", changes: { deleted: { to: 2 } } }]);
      });
    });

    test("a member reads the settings, and gets no form", async () => {
      const { text } = await world.get(at("settings"), member);
      expect(text).toContain("Only admins change settings. Your role is member.");
      expect(text).not.toContain('name="action"');
    });
  });

  describe("provider keys", () => {
    const secret = "sk-acme-0123456789-abcd";
    const create = (fields: Record<string, string>, browser = admin) =>
      world.post(at("provider-keys"), { action: "create", provider: "alpha", key: secret, ...fields }, browser);

    test("while they are off, the page says who switches them on, and stores nothing", async () => {
      const { text } = await world.get(at("provider-keys"), admin);
      expect(text).toContain("the operator switches them on in its settings");
      expect(text).not.toContain('value="create"');
      expect((await create({})).status).toBe(409);
    });

    test("a key is tested and stored, and no page has it, neither after a refusal nor after silence", async () => {
      await world.control.expect("PATCH", "/workspaces/acme", { body: { early_access: ["own_keys"] } });
      const refused = await create({ key: `${secret}-bad` });
      expect([refused.status, refused.text.includes("refused the key"), refused.text.includes(secret)]).toEqual([
        409,
        true,
        false,
      ]);
      const late = await create({ key: `${secret}-late` });
      expect([late.status, late.text.includes(secret)]).toEqual([503, false]);
      expect(late.text).toContain("did not answer");
      expect(late.text).toContain("nothing was stored");
      expect((await create({ name: "<b>EU</b>" })).status).toBe(303);
      const listed = (await world.get(at("provider-keys"), admin)).text;
      expect(listed).toContain("…abcd");
      expect(listed).toContain("&#60;b&#62;EU");
      expect(listed).not.toContain(secret);
      const twice = await create({});
      expect([twice.status, twice.text.includes("has a key for")]).toEqual([409, true]);
    });

    const keyPage = async () => {
      const [key] = await world.control.list("/provider-keys?workspace=acme");
      return at(`provider-keys/${String(key?.["id"])}`);
    };

    test("a test shows what the provider answered for each model", async () => {
      const { status, text } = await world.post(await keyPage(), { action: "test" }, admin);
      expect([status, text.includes("1 of 1 calls were answered"), text.includes("stub/alpha")]).toEqual([200, true, true]);
    });

    test("its page has the chart and the last requests of its provider, and leads to all of them", async () => {
      const workspace = String((await world.control.expect("GET", "/workspaces/acme"))["id"]);
      const key = (await world.control.key("acme")).id;
      const [ours, others] = [settlement({ workspace, key, provider: "alpha" }), settlement({ workspace, key })];
      await book(database.sql, ours, others);
      const { text } = await world.get(`${await keyPage()}?measure=requests`, admin);
      expect(text).toContain(`/requests/${ours.generation}"`);
      expect(text).not.toContain(`/requests/${others.generation}"`);
      expect(text).toContain(`<a href="${at("requests")}?provider=alpha">All requests of this provider</a>`);
      const sums = [...text.matchAll(/<tfoot.*?<\/tfoot>/gs)].join("");
      expect([sums.includes("1"), sums.includes("2")]).toEqual([true, false]);
      const listed = (await world.get(`${at("requests")}?provider=alpha`, admin)).text;
      expect([listed.includes(ours.generation), listed.includes(others.generation)]).toEqual([true, false]);
    });

    test("a member sees that there is a key, and no part of it", async () => {
      const { text } = await world.get(at("provider-keys"), member);
      expect(text).toContain("alpha");
      expect(text).not.toContain("abcd");
      expect((await world.get(await keyPage(), member)).status).toBe(403);
    });

    test("a replaced key is in use again, and a deleted one is gone", async () => {
      const again = await world.signIn("admin@acme");
      const page = await keyPage();
      expect((await world.post(page, { action: "replace", key: `${secret}-new1` }, again)).status).toBe(303);
      expect((await world.get(page, again)).text).toContain("…new1");
      expect((await world.get(`${page}/delete`, again)).text).toContain("cannot be undone");
      expect((await world.post(page, { action: "delete" }, again)).status).toBe(303);
      expect((await world.get(page, again)).status).toBe(404);
    });
  });

  describe("audit", () => {
    test("a change is told in words, from which value to which, with a link to its target", async () => {
      await world.control.expect("PATCH", "/members/auditor@acme", {
        body: { workspace: "acme", role: "member" },
        as: "super_admin@acme",
      });
      await world.control.expect("PATCH", "/members/auditor@acme", { body: { workspace: "acme", role: "auditor" } });
      const { text } = await world.get(`${at("audit")}?event=workspace.member.updated&actor=Super_Admin@acme`, admin);
      expect(text).toContain("Role: <bdi>auditor</bdi> → <bdi>member</bdi>");
      expect(text).toContain(`href="${at("members/auditor%40acme")}"`);
      expect(text).not.toContain("<bdi>member</bdi> → <bdi>auditor</bdi>");
    });

    test("the page of a key and of a member lead to what changed them, for those who may read the log", async () => {
      const { id } = await world.control.key("acme", { owner: "member@acme" });
      await world.control.expect("PATCH", `/keys/${id}`, { body: { rate_limit_rpm: 7 } });
      for (const [page, target] of [
        [`keys/${id}`, id],
        ["members/auditor%40acme", "auditor@acme"],
      ] as const) {
        const path = `${at("audit")}?target=${encodeURIComponent(target)}`;
        expect((await world.get(at(page), admin)).text).toContain(`href="${path}"`);
        const { text } = await world.get(path, admin);
        const rows = text.match(/<tr role="row"><th/g) ?? [];
        const ofTarget = await world.control.list(`/audit?workspace=acme&target=${encodeURIComponent(target)}`);
        expect(ofTarget.map((row) => row["target"])).toEqual(rows.slice(1).map(() => target));
        expect(rows.length).toBeGreaterThan(1);
      }
      expect((await world.get(at(`keys/${id}`), await world.signIn("member@acme"))).text).not.toContain("In the audit log");
    });

    test("the log refreshes once anything changes, and later parts of it do not", async () => {
      const ask = async (query: string) => (await world.get(at("audit") + query, admin)).headers.get("etag");
      const before = await ask("");
      expect(await ask("")).toBe(before);
      await world.control.key("acme");
      expect(await ask("")).not.toBe(before);
      expect(await ask("?before=5")).toBeNull();
    });

    test("hostile names are text, and the list goes on with the next rows", async () => {
      const { id } = await world.control.key("acme", { name: "<script>1</script>" });
      for (let rpm = 1; rpm <= 51; rpm++) await world.control.expect("PATCH", `/keys/${id}`, { body: { rate_limit_rpm: rpm } });
      const { text } = await world.get(`${at("audit")}?event=auth.api.key.updated`, admin);
      const [, next = ""] = /href="([^"]+)" rel="next"/.exec(text) ?? [];
      const rest = (await world.get(next.replaceAll("&#38;", "&"), admin)).text;
      expect(rest).toContain("Rate limit (requests a minute): <bdi>1</bdi>");
      const created = (await world.get(`${at("audit")}?event=auth.api.key.created`, admin)).text;
      expect(created).toContain("&#60;script&#62;");
      expect(created).not.toContain("<bdi><script>");
      expect(created).toContain(`<span title="${id}"><bdi>&#60;script&#62;1`);
    });

    test("days that no calendar has are refused, and empty results say how to go on", async () => {
      expect((await world.get(`${at("audit")}?from=2026-13-01`, admin)).status).toBe(400);
      const { text } = await world.get(`${at("audit")}?from=2000-01-01&to=2000-01-02`, admin);
      expect(text).toContain("No changes match these filters.");
    });

    test("the same rows are a file", async () => {
      const { text, headers } = await world.get(`${at("audit")}?as=csv&event=workspace.member.updated`, admin);
      expect(headers.get("content-disposition")).toContain('filename="audit-acme.csv"');
      expect(text.trim().split("\r\n")).toHaveLength(3);
      expect(text).toContain("Role: auditor → member");
    });
  });
});
