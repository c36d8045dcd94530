import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Control } from "../../support/control.ts";
import { oneDatabase, type TestDatabase } from "../../support/servers/databases.ts";

describe.each(oneDatabase)("editing a key on $name", ({ open }) => {
  let database: TestDatabase;
  let control: Control;
  beforeAll(async () => {
    database = await open();
    control = new Control(database.sql);
    await control.workspace("w");
  }, 60_000);
  afterAll(() => database[Symbol.asyncDispose]());

  const audits = async (id: string) =>
    (await control.list("/audit?event=auth.api.key.updated")).filter(({ target }) => target === id);

  test("an edit is recorded as auth.api.key.updated with the changed fields only", async () => {
    const { id } = await control.key("w", { name: "before", rate_limit_rpm: 5 });
    const edit = { name: "after", rate_limit_rpm: 5, monthly_spend_limit_usd: "3" };
    const edited = await control.expect("PATCH", `/keys/${id}`, { body: edit, as: "member@w" });
    expect(edited).toMatchObject({ name: "after", rate_limit_rpm: 5, monthly_spend_limit_usd: "3.000000000" });
    expect(await audits(id)).toEqual([
      expect.objectContaining({
        event: "auth.api.key.updated",
        actor: "member@w",
        role: "member",
        carried_by: "operator token",
        changes: { name: { from: "before", to: "after" }, monthly_spend_limit_usd: { from: null, to: "3.000000000" } },
      }),
    ]);
  });

  test.each([{}, { name: "same" }, { name: " same ", rate_limit_rpm: null }, { monthly_spend_limit_usd: "1.5" }])(
    "an edit that changes nothing records nothing: %p",
    async (edit) => {
      const { id } = await control.key("w", { name: "same", monthly_spend_limit_usd: "1.50" });
      await control.expect("PATCH", `/keys/${id}`, { body: edit });
      expect(await audits(id)).toEqual([]);
    },
  );

  test("an edit can remove limits, and an empty name becomes `Untitled key`", async () => {
    const { id } = await control.key("w", { name: "named", monthly_spend_limit_usd: "1", rate_limit_rpm: 5 });
    const edit = { name: "", monthly_spend_limit_usd: null, rate_limit_rpm: null };
    const edited = await control.expect("PATCH", `/keys/${id}`, { body: edit });
    expect(edited).toMatchObject({ name: "Untitled key", monthly_spend_limit_usd: null, rate_limit_rpm: null });
  });

  test.each([
    [{ monthly_spend_limit_usd: "0" }, "400 invalid_field monthly_spend_limit_usd"],
    [{ rate_limit_rpm: 10_001 }, "400 invalid_field rate_limit_rpm"],
    [{ owner: "admin@w" }, "400 invalid_field owner"],
    [{ kind: "tools" }, "400 invalid_field kind"],
  ])("an edit to %p is refused and changes nothing", async (edit, refusal) => {
    const { id } = await control.key("w", { name: "kept" });
    const before = await control.expect("GET", `/keys/${id}`);
    expect(await control.refusal("PATCH", `/keys/${id}`, { body: { name: "lost", ...edit } })).toBe(refusal);
    expect(await control.expect("GET", `/keys/${id}`)).toEqual(before);
  });

  test("the owner and the managers of the workspace can edit a key, an auditor never", async () => {
    const { id } = await control.key("w");
    for (const as of ["member@w", "admin@w", "super_admin@w"]) {
      expect(await control.expect("PATCH", `/keys/${id}`, { body: { name: as }, as })).toMatchObject({ name: as });
    }
    expect(await control.refusal("PATCH", `/keys/${id}`, { body: { name: "x" }, as: "auditor@w" })).toBe("403 forbidden null");
    await control.expect("POST", "/members", { body: { workspace: "w", email: "other@w", role: "member" } });
    expect(await control.refusal("PATCH", `/keys/${id}`, { body: { name: "x" }, as: "other@w" })).toBe("404 not_found id");
  });

  test("an edit invalidates cached records, so that new limits apply within 30 seconds", async () => {
    const { id } = await control.key("w");
    const before = control.notified.count("records-changed");
    await control.expect("PATCH", `/keys/${id}`, { body: { rate_limit_rpm: 1 } });
    expect(control.notified.count("records-changed")).toBe(before + 1);
  });

  test("two edits at the same time are both kept", async () => {
    const { id } = await control.key("w", { name: "both" });
    await Promise.all([
      control.expect("PATCH", `/keys/${id}`, { body: { rate_limit_rpm: 11 } }),
      control.expect("PATCH", `/keys/${id}`, { body: { monthly_spend_limit_usd: "11" } }),
    ]);
    const key = await control.expect("GET", `/keys/${id}`);
    expect(key).toMatchObject({ rate_limit_rpm: 11, monthly_spend_limit_usd: "11.000000000" });
  });
});
