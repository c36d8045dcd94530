import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Value } from "@sinclair/typebox/value";
import { WorkspaceView } from "../../../src/accounts/workspaces/schema.ts";
import { Control } from "../../support/control.ts";
import { oneDatabase, type TestDatabase } from "../../support/servers/databases.ts";
import { book, settlement } from "../../support/gateway/settlements.ts";

describe.each(oneDatabase)("a workspace on $name", ({ open }) => {
  let database: TestDatabase;
  let control: Control;
  beforeAll(async () => {
    database = await open();
    control = new Control(database.sql);
  }, 60_000);
  afterAll(() => database[Symbol.asyncDispose]());

  test("a new workspace is enabled with fallbacks; other settings are off, and it has no spend limit and no credit", async () => {
    const made = await control.expect("POST", "/workspaces", { body: { name: "fresh" } });
    expect(Value.Check(WorkspaceView, made)).toBe(true);
    expect(made).toEqual({
      id: expect.stringMatching(/^ws-[a-z2-7]{26}$/),
      name: "fresh",
      enabled: true,
      spend_limit_usd: null,
      daily_spend_limit_usd: null,
      fallbacks: true,
      zero_data_retention: false,
      prompt_storage: false,
      prompt_retention_days: null,
      cost_in_answers: false,
      idempotent_replay: false,
      own_key_fallback: false,
      early_access: [],
      balance_usd: "0.000000000",
      reserved_usd: null,
      available_usd: null,
      month: "2026-11",
      month_spent_usd: "0.000000000",
      day_spent_usd: null,
      month_left_usd: null,
      day_left_usd: null,
    });
  });

  test("a workspace is found by its id and by its exact name", async () => {
    const { id } = await control.expect("POST", "/workspaces", { body: { name: "Team / Ä 100%" } });
    for (const named of [String(id), "Team / Ä 100%"]) {
      expect(await control.expect("GET", `/workspaces/${encodeURIComponent(named)}`)).toMatchObject({ id });
    }
    for (const named of ["Team", "team / ä 100%", "nowhere"]) {
      expect(await control.refusal("GET", `/workspaces/${encodeURIComponent(named)}`)).toBe("404 not_found workspace");
    }
  });

  test("the name of a workspace is unique and has not the form of an id", async () => {
    await control.expect("POST", "/workspaces", { body: { name: "taken" } });
    const refused = (name: unknown) => control.refusal("POST", "/workspaces", { body: { name } });
    expect(await refused(" taken ")).toBe("409 conflict name");
    expect(await refused(`ws-${"a".repeat(26)}`)).toBe("400 invalid_field name");
    for (const name of ["", "  ", ".", "..", "a\u0000b", 7, null]) expect(await refused(name)).toBe("400 invalid_field name");
  });

  test("a workspace is created with its credit or not at all", async () => {
    const made = await control.expect("POST", "/workspaces", { body: { name: "rich", credit_usd: "10.5" } });
    expect(made).toMatchObject({ balance_usd: "10.500000000" });
    const refusal = await control.refusal("POST", "/workspaces", { body: { name: "poor", credit_usd: "-1" } });
    expect(refusal).toBe("400 invalid_field credit_usd");
    expect(await control.refusal("GET", "/workspaces/poor")).toBe("404 not_found workspace");
    expect((await control.list("/audit")).some(({ changes }) => JSON.stringify(changes).includes("poor"))).toBe(false);
  });

  test("a workspace shows the reserved credit, and only the ledger's balance if the counters cannot answer", async () => {
    await control.expect("POST", "/workspaces", { body: { name: "held", credit_usd: "3" } });
    control.position = {
      balance: 3_000_000_000n,
      reserved: 1_000_000_001n,
      available: 1_999_999_999n,
      keySpent: null,
      month: "2026-11",
    };
    const credit = { balance_usd: "3.000000000", reserved_usd: "1.000000001", available_usd: "1.999999999" };
    expect(await control.expect("GET", "/workspaces/held")).toMatchObject(credit);
    expect(await control.expect("GET", "/credit?workspace=held")).toEqual(credit);
    control.position = null;
    expect(await control.expect("GET", "/credit?workspace=held")).toEqual({ ...credit, reserved_usd: null, available_usd: null });
  });

  test("a workspace shows its spend of the current month", async () => {
    const workspace = await control.workspace("spends", "1");
    const { id: key } = await control.key("spends");
    await book(database.sql, settlement({ workspace, key }), settlement({ workspace, key, admittedAt: Date.UTC(2026, 9, 1) }));
    expect(await control.expect("GET", "/workspaces/spends")).toMatchObject({
      month_spent_usd: "0.000200000",
      balance_usd: "0.999600000",
    });
  });

  describe("its settings", () => {
    const settings = {
      enabled: false,
      spend_limit_usd: "0.000000001",
      fallbacks: false,
      zero_data_retention: true,
      prompt_storage: true,
      cost_in_answers: true,
      idempotent_replay: true,
    };

    test("admins, super admins and the operator can change the settings", async () => {
      await control.workspace("managed");
      for (const [index, as] of ["admin@managed", "super_admin@managed", undefined].entries()) {
        const body = { spend_limit_usd: String(index + 1) };
        const set = await control.expect("PATCH", "/workspaces/managed", { body, ...(as !== undefined && { as }) });
        expect(set).toMatchObject({ spend_limit_usd: `${index + 1}.000000000` });
      }
      for (const as of ["member@managed", "auditor@managed"]) {
        expect(await control.refusal("PATCH", "/workspaces/managed", { body: settings, as })).toBe("403 forbidden null");
      }
    });

    test("the operator alone switches a workspace on or off and chooses its early access", async () => {
      await control.workspace("switched");
      const as = "super_admin@switched";
      for (const body of [{ enabled: false }, { fallbacks: false, early_access: ["routing"] }])
        expect(await control.refusal("PATCH", "/workspaces/switched", { body, as })).toBe("403 forbidden null");
      expect(await control.expect("GET", "/workspaces/switched")).toMatchObject({
        enabled: true,
        fallbacks: true,
        early_access: [],
      });
      const same = { enabled: true, early_access: [], fallbacks: false };
      expect(await control.expect("PATCH", "/workspaces/switched", { body: same, as })).toMatchObject(same);
    });

    test("settings that are not given stay, and null removes the spend limit", async () => {
      await control.workspace("partly");
      expect(await control.expect("PATCH", "/workspaces/partly", { body: settings })).toMatchObject(settings);
      const fallbacks = await control.expect("PATCH", "/workspaces/partly", { body: { fallbacks: true } });
      expect(fallbacks).toMatchObject({ ...settings, fallbacks: true });
      const unlimited = await control.expect("PATCH", "/workspaces/partly", { body: { spend_limit_usd: null } });
      expect(unlimited).toMatchObject({ spend_limit_usd: null, enabled: false });
    });

    test("a change is audited with the role and the changed fields only; a change of nothing is not audited", async () => {
      await control.workspace("audited");
      for (let times = 0; times < 2; times++) {
        await control.expect("PATCH", "/workspaces/audited", {
          body: { enabled: true, prompt_storage: true, idempotent_replay: true },
          as: "admin@audited",
        });
      }
      expect(await control.list("/audit?workspace=audited&event=workspace.updated")).toEqual([
        expect.objectContaining({
          actor: "admin@audited",
          role: "admin",
          carried_by: "operator token",
          changes: { prompt_storage: { from: false, to: true }, idempotent_replay: { from: false, to: true } },
        }),
      ]);
    });

    test("early access that this version serves can be switched on and off", async () => {
      await control.workspace("trying");
      const set = (early_access: string[]) => control.expect("PATCH", "/workspaces/trying", { body: { early_access } });
      expect(await set(["completions"])).toMatchObject({ early_access: ["completions"] });
      expect(await set([])).toMatchObject({ early_access: [] });
    });

    test("early access that this version does not have is refused", async () => {
      await control.workspace("early");
      const { status, body } = await control.call("PATCH", "/workspaces/early", {
        body: { early_access: ["routing", "telepathy"] },
      });
      expect(status).toBe(400);
      const message = "telepathy is not available in this version";
      expect(body).toEqual({ error: { code: "invalid_field", field: "early_access", message } });
      for (const early_access of [["routing"], []])
        expect(await control.expect("PATCH", "/workspaces/early", { body: { early_access } })).toMatchObject({ early_access });
    });

    test.each([
      [{ enabled: "on" }, "enabled"],
      [{ spend_limit_usd: "0" }, "spend_limit_usd"],
      [{ spend_limit_usd: 5 }, "spend_limit_usd"],
      [{ spend_limit: "5" }, "spend_limit"],
    ])("the settings %p are refused", async (body, field) => {
      await control.call("POST", "/workspaces", { body: { name: "refusing" } });
      expect(await control.refusal("PATCH", "/workspaces/refusing", { body })).toBe(`400 invalid_field ${field}`);
    });

    test("a change of settings invalidates cached records", async () => {
      await control.workspace("forget");
      const before = control.notified.count("records-changed");
      await control.expect("PATCH", "/workspaces/forget", { body: { enabled: false } });
      expect(control.notified.count("records-changed")).toBe(before + 1);
    });
  });
});
