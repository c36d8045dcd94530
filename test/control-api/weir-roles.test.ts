/** What the operator does to members and accounts by the command line; who else may is in test/console/roles.md. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { Control } from "../support/control.ts";
import { openEmbeddedDatabase, type TestDatabase } from "../support/servers/databases.ts";
import { Weir } from "../support/weir.ts";

let database: TestDatabase;
let weir: Weir;
beforeAll(async () => {
  database = await openEmbeddedDatabase();
  const control = new Control(database.sql);
  weir = new Weir(control);
  await control.workspace("w", "1");
}, 60_000);
afterAll(async () => {
  await weir[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

test("the commands change, deactivate and reactivate a member, and suspend, lock and delete an account", async () => {
  const inW = ["--workspace", "w"];
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
