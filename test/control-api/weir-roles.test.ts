/** The specification's rules for roles, tested with `--as`: a refused command exits with 1 and stores nothing. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Control } from "../support/control.ts";
import { openEmbeddedDatabase, type TestDatabase } from "../support/servers/databases.ts";
import { Weir } from "../support/weir.ts";

let database: TestDatabase;
let control: Control;
let weir: Weir;
beforeAll(async () => {
  database = await openEmbeddedDatabase();
  control = new Control(database.sql);
  weir = new Weir(control);
  await control.workspace("w", "1");
}, 60_000);
afterAll(async () => {
  await weir[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

/** All rows of the control plane, as text. */
async function stored(): Promise<string> {
  const tables = ["workspaces", "accounts", "members", "api_keys", "credit_accounts", "ledger_entries", "audit_events"];
  const rows = await Promise.all(tables.map((table) => database.sql.unsafe(`SELECT * FROM ${table} ORDER BY 1, 2`)));
  return JSON.stringify(rows, (_, value) => (typeof value === "bigint" ? String(value) : value));
}

const inW = ["--workspace", "w"];

describe("a refused command exits with 1 and stores nothing:", () => {
  let key: string;
  beforeAll(async () => {
    key = (await control.key("w", { owner: "admin@w" })).id;
  });

  test.each<[string, () => string[], string]>([
    ["an auditor's key create", () => ["key", "create", ...inW, "--as", "auditor@w"], "as auditor"],
    ["a key create for an auditor", () => ["key", "create", ...inW, "--owner", "auditor@w"], "as auditor"],
    ["a key create for an unknown person", () => ["key", "create", ...inW, "--owner", "nobody@w"], "not an active member"],
    ["a member's key for another person", () => ["key", "create", ...inW, "--owner", "admin@w", "--as", "member@w"], "belongs"],
    ["a member's edit of another person's key", () => ["key", "edit", "--id", key, "--rpm", "1", "--as", "member@w"], "no key"],
    ["an auditor's edit of a key", () => ["key", "edit", "--id", key, "--rpm", "1", "--as", "auditor@w"], "as auditor"],
    ["an auditor's revoke", () => ["key", "revoke", "--id", key, "--yes", "--as", "auditor@w"], "as auditor"],
    ["a member's workspace set", () => ["workspace", "set", ...inW, "--spend-limit", "1", "--as", "member@w"], "as member"],
    ["an auditor's workspace set", () => ["workspace", "set", ...inW, "--fallbacks", "off", "--as", "auditor@w"], "as auditor"],
    ["a member's prompt storage", () => ["workspace", "set", ...inW, "--prompt-storage", "on", "--as", "member@w"], "as member"],
    ["a stranger's anything", () => ["workspace", "show", ...inW, "--as", "stranger@v"], "no active member"],
    ["an admin's credit", () => ["credit", "add", ...inW, "--usd", "1", "--ref", "r", "--as", "admin@w"], "operator"],
    [
      "a member's member add",
      () => ["member", "add", ...inW, "--email", "n@w", "--role", "member", "--as", "member@w"],
      "as member",
    ],
    [
      "an admin's super admin",
      () => ["member", "add", ...inW, "--email", "n@w", "--role", "super_admin", "--as", "admin@w"],
      "super_admin",
    ],
    [
      "an auditor's deactivation",
      () => ["member", "deactivate", ...inW, "--email", "member@w", "--as", "auditor@w"],
      "as auditor",
    ],
    [
      "an admin's own role",
      () => ["member", "set", ...inW, "--email", "admin@w", "--role", "member", "--as", "admin@w"],
      "no one changes their own",
    ],
    ["a super admin's suspension", () => ["account", "suspend", "--email", "member@w", "--as", "super_admin@w"], "operator"],
    ["a member's look at the audit log", () => ["audit", "list", ...inW, "--as", "member@w"], "as member"],
    [
      "an unknown feature",
      () => ["workspace", "set", ...inW, "--early-access", "telepathy"],
      "telepathy is not available in this version",
    ],
    ["a feature beside nothing", () => ["workspace", "set", ...inW, "--early-access", "none,routing"], "not available"],
    ["a limit of zero", () => ["key", "create", ...inW, "--owner", "member@w", "--limit", "0"], "above zero"],
    ["a limit in tenths of cents", () => ["key", "create", ...inW, "--owner", "member@w", "--limit", "1.001"], "2 decimals"],
    ["no request a minute", () => ["key", "create", ...inW, "--owner", "member@w", "--rpm", "0"], "from 1 to 10000"],
    ["too many requests a minute", () => ["key", "edit", "--id", key, "--rpm", "10001"], "from 1 to 10000"],
  ])("%s", async (_, words, message) => {
    const before = await stored();
    expect(await weir.refusal(...words())).toContain(message);
    expect(await stored()).toBe(before);
  });
});

test("key create is refused to everyone while the platform is off, and stores nothing", async () => {
  await weir.json("workspace", "set", ...inW, "--enabled", "off");
  const before = await stored();
  for (const who of [
    ["--as", "member@w"],
    ["--as", "super_admin@w"],
    ["--owner", "member@w"],
  ]) {
    expect(await weir.refusal("key", "create", ...inW, ...who)).toContain("the workspace is switched off");
  }
  expect(await stored()).toBe(before);
  await weir.json("workspace", "set", ...inW, "--enabled", "on");
  expect(await weir.json("key", "create", ...inW, "--as", "member@w")).toHaveProperty("key");
});

test.each(["admin", "super_admin"])("the %s can change settings, and the audit row has the role", async (role) => {
  const as = ["--as", `${role}@w`];
  const settings = ["--spend-limit", role === "admin" ? "7" : "8", "--early-access", "none"];
  await weir.json("workspace", "set", ...inW, ...settings, ...as);
  const { data } = await weir.json("audit", "list", ...inW, "--event", "workspace.updated", "--limit", "1", ...as);
  expect(data).toMatchObject([{ actor: `${role}@w`, role, carried_by: "operator token" }]);
});

test("the commands change, deactivate and reactivate a member, and suspend, lock and delete an account", async () => {
  const named = [...inW, "--email", "auditor@w"];
  const account = { email: "auditor@w", role: "member" };
  const member = { ...account, monthly_spend_limit_usd: null };
  expect(await weir.json("member", "set", ...named, "--role", "member")).toEqual({ ...member, state: "active" });
  expect(await weir.json("member", "deactivate", ...named)).toEqual({ ...member, state: "deactivated" });
  expect(await weir.json("member", "reactivate", ...named)).toEqual({ ...member, state: "active" });
  for (const [verb, state] of [
    ["suspend", "suspended"],
    ["unsuspend", "active"],
    ["lock", "locked"],
    ["unlock", "active"],
    ["delete", "deleted"],
  ] as const) {
    expect(await weir.json("account", verb, "--email", "auditor@w")).toEqual({ ...account, state });
  }
  expect((await weir.json("member", "list", ...inW))["data"]).toContainEqual(
    expect.objectContaining({ ...member, state: "deleted" }),
  );
});
