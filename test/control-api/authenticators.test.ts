/** A second kind of credential opens the control API with a member's role. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Authenticator } from "../../src/accounts/members/principal.ts";
import { Control } from "../support/control.ts";
import { openEmbeddedDatabase, type TestDatabase } from "../support/servers/databases.ts";

/** A credential such as a session: the header names the person whose it is. */
const sessions: Authenticator = {
  async authenticate(request) {
    const email = request.headers.get("x-test-session");
    return email === null ? null : { kind: "person", email, carriedBy: "first start" };
  },
};

let database: TestDatabase;
let control: Control;
beforeAll(async () => {
  database = await openEmbeddedDatabase();
  control = new Control(database.sql, undefined, [sessions]);
  await control.workspace("w", "1");
}, 60_000);
afterAll(() => database[Symbol.asyncDispose]());

const as = (email: string, body?: unknown) => ({ token: null, headers: { "x-test-session": email }, body });

test("a session acts as its member in each workspace, with the role that the member has there", async () => {
  const made = await control.expect("POST", "/keys", as("member@w", { workspace: "w" }));
  expect(made).toMatchObject({ owner: "member@w" });
  expect(await control.refusal("PATCH", "/workspaces/w", as("member@w", { fallbacks: false }))).toBe("403 forbidden null");
  await control.expect("PATCH", "/workspaces/w", as("admin@w", { fallbacks: false }));
  const [row] = await control.list("/audit?workspace=w&limit=1");
  expect(row).toMatchObject({ event: "workspace.updated", actor: "admin@w", role: "admin", carried_by: "first start" });
});

test("a session cannot do what only the operator can, nor act in a workspace without a membership", async () => {
  expect(await control.refusal("POST", "/workspaces", as("super_admin@w", { name: "x" }))).toBe("403 forbidden null");
  expect(await control.refusal("GET", "/workspaces/w", as("stranger@x"))).toBe("403 forbidden null");
  expect(await control.refusal("GET", "/keys", as("admin@w"))).toBe("400 invalid_field workspace");
});

test("a request without any credential is refused, and the operator token still opens the API", async () => {
  expect(await control.refusal("GET", "/workspaces", { token: null })).toBe("401 unauthorized null");
  await control.expect("GET", "/workspaces");
});
