import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { connectionsPerWorkspaceMax } from "../../../src/connectors/limits.ts";
import { Control } from "../../support/control.ts";
import { oneDatabase, type TestDatabase } from "../../support/servers/databases.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { Weir } from "../../support/weir.ts";
import { publishVendors } from "./vendors.ts";

const secret = "canary-2f81c0de-token";
const okta = { okta_domain: "acme.okta.com", api_token: secret };

describe.each(oneDatabase)("connections on $name", ({ open }) => {
  let database: TestDatabase;
  let control: Control;
  beforeAll(async () => {
    database = await open();
    control = new Control(database.sql);
    control.connectors.published = await publishVendors(database.sql);
    await control.workspace("acme");
    await control.workspace("other");
  }, 60_000);
  afterAll(() => database[Symbol.asyncDispose]());

  const connect = async (body: Record<string, unknown> = {}): Promise<Record<string, unknown>> =>
    control.expect("POST", "/connections", { body: { workspace: "acme", connector: "okta", credentials: okta, ...body } });
  const refused = (body: Record<string, unknown>) =>
    control.refusal("POST", "/connections", { body: { workspace: "acme", connector: "okta", ...body } });

  test("are created, listed, replaced and deleted, and never show their credentials", async () => {
    const made = await connect();
    const { id } = made;
    expect(made).toEqual({
      id: expect.stringMatching(/^con-[a-z2-7]{26}$/),
      workspace_id: expect.stringMatching(/^ws-/),
      connector: "okta",
      name: null,
      method: "api_token",
      credential_set: 0,
      fields: ["api_token", "okta_domain"],
      created_at: expect.any(String),
      updated_at: expect.any(String),
      role_access: null,
      testable: true,
      last_test: null,
    });
    expect(await control.list("/connections?workspace=acme")).toContainEqual(made);
    expect(await control.expect("GET", `/connections/${id}`)).toEqual(made);
    expect(await control.list("/connections?workspace=other")).toEqual([]);
    await control.clock.advance(60_000);
    const body = { credential_set: 1, credentials: { okta_domain: "acme.okta.com", client_id: "1", private_key: secret } };
    const replaced = await control.expect("PUT", `/connections/${id}/credentials`, { body });
    expect(replaced).toMatchObject({ id, credential_set: 1, fields: ["client_id", "okta_domain", "private_key"] });
    expect(replaced["created_at"]).toBe(made["created_at"]);
    expect(replaced["updated_at"]).not.toBe(made["updated_at"]);
    expect(await control.expect("DELETE", `/connections/${id}`)).toEqual({ id, deleted: true });
    expect(await control.refusal("DELETE", `/connections/${id}`)).toBe("404 not_found id");
    expect(await database.sql`SELECT FROM connection_fields WHERE connection_id = ${String(id)}`).toHaveLength(0);
    const audit = await control.list("/audit?workspace=acme");
    expect(audit.slice(0, 3).map(({ event, target }) => [event, target])).toEqual([
      ["connection.deleted", id],
      ["connection.credentials.replaced", id],
      ["connection.created", id],
    ]);
    expect(JSON.stringify([made, replaced, audit, control.logged])).not.toContain(secret);
  });

  test("are sealed in the database, each field separately and bound to its workspace, connector and key", async () => {
    const { id } = await connect();
    control.probeFetch = async () => ({ status: 200, body: "[]" });
    const rows = await database.sql<{ field: string; sealed: Uint8Array }[]>`
      SELECT field, sealed FROM connection_fields WHERE connection_id = ${String(id)} ORDER BY field`;
    expect(rows.map(({ field }) => field)).toEqual(["api_token", "okta_domain"]);
    for (const { sealed } of rows) expect(Buffer.from(sealed).toString("latin1")).not.toMatch(/canary|acme/);
    const swap = rows[1]?.sealed ?? new Uint8Array();
    await database.sql`UPDATE connection_fields SET sealed = ${swap} WHERE connection_id = ${String(id)} AND field = 'api_token'`;
    expect(await control.refusal("POST", `/connections/${id}/test`)).toBe("503 unavailable null");
  });

  test("open only for their connector: a field moved to another connector's connection does not", async () => {
    const { id } = await connect();
    const { id: other } = await connect({ connector: "generic", credentials: { api_token: "of another vendor" } });
    await database.sql`
      UPDATE connection_fields SET sealed = (SELECT sealed FROM connection_fields WHERE connection_id = ${String(other)})
      WHERE connection_id = ${String(id)} AND field = 'api_token'`;
    expect(await control.refusal("POST", `/connections/${id}/test`)).toBe("503 unavailable null");
  });

  test("open only for their connection: a field of another connection of the same connector does not", async () => {
    const { id } = await connect();
    const { id: other } = await connect();
    await move(String(other), String(id));
    expect(await control.refusal("POST", `/connections/${id}/test`)).toBe("503 unavailable null");
  });

  /** As an attacker with write access to the database could. */
  async function move(from: string, to: string): Promise<void> {
    await database.sql`
      UPDATE connection_fields SET sealed = moved.sealed FROM connection_fields AS moved
      WHERE connection_fields.connection_id = ${to} AND moved.connection_id = ${from} AND moved.field = connection_fields.field`;
  }

  test("can be used after `secrets rotate`, and without the old key", async () => {
    const [old, young] = [7, 8].map((byte) => Buffer.alloc(32, byte).toString("base64"));
    const { id } = await connect();
    await new Control(database.sql, [young ?? "", old ?? ""]).expect("POST", "/secrets/rotate");
    const sent: string[] = [];
    const later = new Control(database.sql, [young ?? ""]);
    later.probeFetch = async ({ headers }) => (sent.push(headers["authorization"] ?? ""), { status: 200, body: "[]" });
    expect(await later.expect("POST", `/connections/${id}/test`)).toMatchObject({ ok: true });
    expect(sent).toEqual([`SSWS ${secret}`]);
    await new Control(database.sql, [old ?? "", young ?? ""]).expect("POST", "/secrets/rotate");
  });

  test.each([
    ["a missing field", "api_token", { credentials: { okta_domain: "acme.okta.com" } }],
    ["a blank field", "api_token", { credentials: { ...okta, api_token: "  " } }],
    ["no credentials", "okta_domain", {}],
    ["an unknown field", "token", { credentials: { ...okta, token: "x" } }],
    ["an inherited name", "constructor", { credentials: { ...okta, constructor: "x" } }],
    ["no text", "api_token", { credentials: { ...okta, api_token: 1 } }],
    ["two lines", "api_token", { credentials: { ...okta, api_token: "a\nb" } }],
    ["too long a text", "api_token", { credentials: { ...okta, api_token: "a".repeat(4_097) } }],
    ["a private base URL", "base_url", { connector: "generic", credentials: { api_token: "a", base_url: "https://0x7f.1" } }],
    ["no address", "email", { connector: "hosted", credentials: { base_url: "https://a.example", email: "a" } }],
    [
      "no JSON object",
      "account",
      { connector: "hosted", credentials: { base_url: "https://a.example", email: "a@b", account: "[]" } },
    ],
    ["an alternative that is not there", "credential_set", { credential_set: 2, credentials: okta }],
    ["an unknown connector", "connector", { connector: "nobody", credentials: okta }],
    ["a method that the connector lacks", "method", { method: "oauth", credentials: okta }],
    ["a record only connector's token", "api_token", { connector: "manual", credentials: { api_token: "a" } }],
  ])("with %s are refused, naming the field", async (_what, field, body) => {
    expect(await refused(body)).toBe(`400 invalid_field ${field}`);
  });

  test("of an unknown connector are refused with the one that was most likely meant", async () => {
    const { body } = await control.call("POST", "/connections", {
      body: { workspace: "acme", connector: "octa", credentials: okta },
    });
    expect(JSON.stringify(body)).toContain('There is no connector \\"octa\\" in the catalog: the nearest is \\"okta\\"');
  });

  test("never repeat a value in a refusal", async () => {
    const body = { workspace: "acme", connector: "okta", credentials: { ...okta, api_token: `${secret}\n` + secret } };
    const { body: answer } = await control.call("POST", "/connections", { body });
    expect(JSON.stringify([answer, control.logged])).not.toContain(secret);
  });

  test("accept the generic form, and a record-only connector without credentials", async () => {
    expect(await connect({ connector: "generic", credentials: { api_token: "a" } })).toMatchObject({ fields: ["api_token"] });
    expect(await connect({ connector: "manual", credentials: {} })).toMatchObject({ method: "record_only", fields: [] });
  });

  test("have a command line that reads credentials from a file", async () => {
    await using weir = new Weir(control);
    await using folder = await temporaryFolder();
    const file = join(folder.path, "okta.json");
    writeFileSync(file, JSON.stringify(okta));
    const named = ["--workspace", "acme", "--connector", "okta"];
    const { id } = await weir.json("connection", "create", ...named, "--credentials", file);
    const which = ["--id", String(id)];
    expect((await weir.json("connection", "list", "--workspace", "acme"))["data"]).toContainEqual(
      expect.objectContaining({ id }),
    );
    expect(await weir.json("connection", "replace", ...which, "--credentials", file)).toMatchObject({ id });
    control.probeFetch = async () => ({ status: 401, body: "{}" });
    expect((await weir.run("connection", "test", ...which)).code).toBe(1);
    expect(await weir.json("connection", "delete", ...which)).toEqual({ id, deleted: true });
    expect(await weir.refusal("connection", "create", ...named)).toContain('"okta_domain" is missing');
    writeFileSync(file, "no JSON");
    expect((await weir.run("connection", "create", ...named, "--credentials", file)).code).toBe(2);
  });

  test("are limited in number for each workspace, also with concurrent creation", async () => {
    const workspace = await control.workspace("full");
    await database.sql`
      INSERT INTO connections (id, workspace_id, connector_id, method, credential_set, created_at, updated_at)
      SELECT 'con-' || number, ${workspace}, 'manual', 'record_only', 0, now(), now()
      FROM generate_series(1, ${connectionsPerWorkspaceMax - 1}::integer) AS number`;
    const body = { workspace: "full", connector: "manual" };
    const answers = await Promise.all([1, 2, 3].map(() => control.call("POST", "/connections", { body })));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409, 409]);
  });

  test("need a catalog", async () => {
    const early = new Control(database.sql);
    const body = { workspace: "acme", connector: "okta", credentials: okta };
    expect(await early.refusal("POST", "/connections", { body })).toBe("503 unavailable null");
  });
});
