import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { Secret } from "../../../src/kernel/secret.ts";
import { dataKeyOf, findDataKey } from "../../../src/accounts/secrets/data-key.ts";
import { Keyring } from "../../../src/accounts/secrets/keyring.ts";
import { findKeyRecords } from "../../../src/accounts/keys/find.ts";
import { openOwnKey, sealOwnKey } from "../../../src/gateway/own-keys/sealed-key.ts";
import { findOwnKey } from "../../../src/gateway/own-keys/own-keys.ts";
import { hashKey } from "../../../src/kernel/ids.ts";
import { SealKey } from "../../../src/kernel/seal-key.ts";
import { Control } from "../../support/control.ts";
import { oneDatabase, type TestDatabase } from "../../support/servers/databases.ts";
import { failureOf } from "../../support/failure-of.ts";
import { Weir } from "../../support/weir.ts";

const [old, young, third] = [1, 2, 3].map((byte) => Buffer.alloc(32, byte).toString("base64")) as [string, string, string];

function ring(...keys: string[]): Keyring {
  return new Keyring(keys.map((key) => new Secret(key)));
}

describe.each(oneDatabase)("data keys on $name", ({ open }) => {
  let database: TestDatabase;
  let workspaces: string[];
  beforeAll(async () => {
    database = await open();
    const control = new Control(database.sql);
    workspaces = await Promise.all(["a", "b", "c"].map((name) => control.workspace(name)));
  }, 60_000);
  beforeEach(async () => {
    await database.sql`DELETE FROM data_keys`;
  });
  afterAll(() => database[Symbol.asyncDispose]());

  const ids = (keyring: Keyring) =>
    Promise.all(workspaces.map(async (workspace) => (await findDataKey(workspace, { sql: database.sql, keyring }))?.id ?? null));
  const make = (keyring: Keyring, which = workspaces) =>
    Promise.all(which.map((workspace) => dataKeyOf(workspace, { sql: database.sql, keyring })));
  const rotate = (...keys: string[]) => new Control(database.sql, keys).call("POST", "/secrets/rotate");

  test("each workspace has one data key, even with concurrent first uses, and no two are equal", async () => {
    const [workspace = ""] = workspaces;
    const asked = await make(
      ring(old),
      Array.from({ length: 8 }, () => workspace),
    );
    expect(new Set(asked.map(({ id }) => id)).size).toBe(1);
    await make(ring(old));
    expect(new Set(await ids(ring(old))).size).toBe(workspaces.length);
  });

  test("data keys are stored sealed, and each opens only for its workspace", async () => {
    const [key] = await make(ring(old));
    const [a = "", b = ""] = workspaces;
    const [row] = await database.sql`SELECT wrapped FROM data_keys WHERE workspace_id = ${a}`;
    expect(Buffer.from(row?.["wrapped"]).includes(Buffer.from(key?.reveal() ?? []))).toBe(false);
    await database.sql`UPDATE data_keys SET wrapped = ${row?.["wrapped"]} WHERE workspace_id = ${b}`;
    expect(String(await failureOf(findDataKey(b, { sql: database.sql, keyring: ring(old) })))).toContain(
      "belong to something else",
    );
  });

  test("data keys open with an older key, new ones are sealed by the first, and the error names a missing key", async () => {
    await make(ring(old), workspaces.slice(0, 1));
    await make(ring(young, old));
    expect(await ids(ring(third, young, old))).not.toContain(null);
    const sources = { sql: database.sql, keyring: ring(young) };
    expect(String(await failureOf(findDataKey(workspaces[0] ?? "", sources)))).toContain(
      `The key ${ring(old).first.id} is needed`,
    );
    expect(await findDataKey(workspaces[1] ?? "", sources)).not.toBeNull();
  });

  test("`secrets rotate` seals the same data keys again, so that the old key is no longer needed", async () => {
    await make(ring(old), workspaces.slice(0, 2));
    await make(ring(young), workspaces.slice(2));
    const before = await ids(ring(old, young));
    await using weir = new Weir(new Control(database.sql, [young, old]));
    const key_id = ring(young).first.id;
    expect(await weir.json("secrets", "rotate")).toEqual({ key_id, rewrapped: 2, unchanged: 1 });
    expect(await weir.json("secrets", "rotate")).toEqual({ key_id, rewrapped: 0, unchanged: 3 });
    expect(await ids(ring(young))).toEqual(before);
    expect((await weir.json("audit", "list", "--event", "secrets.rotated"))["data"]).toMatchObject([
      { actor: "operator", workspace_id: null, target: key_id, changes: { rewrapped: { from: null, to: 2 } } },
    ]);
  });

  test("own provider keys open after `secrets rotate` without the old key, in records and in the control API", async () => {
    const [workspace = ""] = workspaces;
    const [dataKey] = await make(ring(old), [workspace]);
    const owner = { workspace, provider: "alpha", id: "own-1" };
    const sealed = sealOwnKey(new Secret("sk-own"), owner, dataKey ?? SealKey.random());
    await database.sql`
      INSERT INTO own_keys (id, workspace_id, provider_id, name, sealed, state, zero_data_retention, created_at, tested_at)
      VALUES ('own-1', ${workspace}, 'alpha', 'one', ${Buffer.from(sealed)}, 'active', false, now(), now())`;
    const control = new Control(database.sql, [young, old]);
    await control.expect("PATCH", `/workspaces/${workspace}`, { body: { early_access: ["own_keys"] } });
    const { key } = await control.key("a");
    const inRecord = async () => (await findKeyRecords([hashKey(key)], database.sql)).get(hashKey(key))?.ownKeys?.[0];
    const before = await inRecord();
    if (!before) throw new Error("The record has no own key");
    expect(() => openOwnKey(before, ring(young))).toThrow(`The key ${ring(old).first.id} is needed`);
    await control.expect("POST", "/secrets/rotate");
    const after = await inRecord();
    expect(after && openOwnKey(after, ring(young)).reveal()).toBe("sk-own");
    // A record from before the rotation opens as long as the old key is in SECRETS_KEY.
    expect(openOwnKey(before, ring(young, old)).reveal()).toBe("sk-own");
    expect(openOwnKey(await findOwnKey("own-1", database.sql), ring(young)).reveal()).toBe("sk-own");
  });

  test("`secrets rotate` seals all data keys or none: the error names one whose key is missing", async () => {
    await make(ring(old), workspaces.slice(0, 2));
    await make(ring(third), workspaces.slice(2));
    expect(await rotate(young, old)).toMatchObject({
      status: 409,
      body: { error: { code: "conflict", message: expect.stringContaining(ring(third).first.id) } },
    });
    expect(await ids(ring(old, third))).not.toContain(null);
  });

  test("only the operator can rotate secrets", async () => {
    const control = new Control(database.sql);
    expect(await control.refusal("POST", "/secrets/rotate", { as: "super_admin@a" })).toBe("403 forbidden X-Act-As");
  });
});
