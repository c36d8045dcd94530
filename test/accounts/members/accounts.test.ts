import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { findKeyRecords } from "../../../src/accounts/keys/find.ts";
import { hashKey } from "../../../src/kernel/ids.ts";
import { Control } from "../../support/control.ts";
import { oneDatabase, type TestDatabase } from "../../support/servers/databases.ts";

describe.each(oneDatabase)("an account on $name", ({ open }) => {
  let database: TestDatabase;
  let control: Control;
  beforeAll(async () => {
    database = await open();
    control = new Control(database.sql);
  }, 60_000);
  afterAll(() => database[Symbol.asyncDispose]());

  /** A person who is a member of two workspaces, `<name>` and `<name>-2`, with a key in each. */
  async function person(name: string): Promise<{ email: string; keys: string[] }> {
    const email = `member@${name}`;
    await control.workspace(name);
    await control.workspace(`${name}-2`);
    await control.expect("POST", "/members", { body: { workspace: `${name}-2`, email, role: "admin" } });
    const keys = [await control.key(name), await control.key(`${name}-2`, { owner: email })];
    return { email, keys: keys.map(({ key }) => key) };
  }

  const act = (email: string, verb: string) => control.expect("POST", `/accounts/${encodeURIComponent(email)}/${verb}`);
  const usable = async (keys: string[]) => {
    const records = await findKeyRecords(keys.map(hashKey), database.sql);
    return keys.map((key) => records.has(hashKey(key)));
  };

  test.each([
    ["suspend", "suspended", "unsuspend"],
    ["lock", "locked", "unlock"],
  ])("the verb %s stops all keys of the person in every workspace, until it is undone", async (verb, state, undo) => {
    const { email, keys } = await person(`after-${verb}`);
    const before = control.notified.count("records-changed");
    expect(await act(email.toUpperCase(), verb)).toEqual({ email, role: null, state });
    expect(await usable(keys)).toEqual([false, false]);
    expect(await act(email, undo)).toEqual({ email, role: null, state: "active" });
    expect(await usable(keys)).toEqual([true, true]);
    expect(control.notified.count("records-changed")).toBe(before + 2);
  });

  test("a deleted account stays deleted, and its keys stay listed", async () => {
    const { email, keys } = await person("deleted");
    expect(await act(email, "delete")).toEqual({ email, role: null, state: "deleted" });
    expect(await usable(keys)).toEqual([false, false]);
    for (const verb of ["suspend", "unsuspend", "lock", "unlock"]) {
      expect(await control.refusal("POST", `/accounts/${email}/${verb}`)).toBe("409 conflict email");
    }
    expect(await act(email, "delete")).toMatchObject({ state: "deleted" });
    expect((await control.list("/keys?workspace=deleted")).map(({ revoked_at }) => revoked_at)).toEqual([null]);
  });

  test("a suspended account cannot be unlocked, and a locked one cannot be suspended", async () => {
    const { email, keys } = await person("one-way");
    await act(email, "suspend");
    for (const verb of ["unlock", "lock"]) {
      expect(await control.refusal("POST", `/accounts/${email}/${verb}`)).toBe("409 conflict email");
    }
    expect(await usable(keys)).toEqual([false, false]);
    await act(email, "delete");
  });

  test("a change holds in every workspace of the person, and each writes one audit row", async () => {
    const { email } = await person("audited");
    await act(email, "suspend");
    await act(email, "suspend");
    for (const workspace of ["audited", "audited-2"]) {
      expect(await control.list(`/audit?workspace=${workspace}&event=account.suspended`)).toEqual([
        expect.objectContaining({
          actor: "operator",
          role: "operator",
          target: email,
          changes: { state: { from: "active", to: "suspended" } },
        }),
      ]);
    }
    expect(await control.list("/members?workspace=audited-2")).toContainEqual(
      expect.objectContaining({ email, role: "admin", state: "suspended" }),
    );
  });

  test("an account shows the person's role if it is the same in all workspaces", async () => {
    await control.workspace("same");
    expect(await act("auditor@same", "lock")).toEqual({ email: "auditor@same", role: "auditor", state: "locked" });
  });

  test("only the operator can change an account", async () => {
    await control.workspace("alone");
    for (const verb of ["suspend", "unsuspend", "lock", "unlock", "delete"]) {
      const refusal = await control.refusal("POST", `/accounts/member@alone/${verb}`, { as: "super_admin@alone" });
      expect(refusal).toBe("403 forbidden X-Act-As");
      expect(await control.refusal("POST", `/accounts/nobody@alone/${verb}`)).toBe("404 not_found email");
    }
    expect(await control.list("/audit?workspace=alone&event=account.deleted")).toEqual([]);
  });
});
