import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { hashKey } from "../../../src/kernel/ids.ts";
import { findKeyRecords } from "../../../src/accounts/keys/find.ts";
import { selectCallerId } from "../../../src/accounts/members/store.ts";
import { dataKeyOf } from "../../../src/accounts/secrets/data-key.ts";
import { openOwnKey, sealOwnKey } from "../../../src/gateway/own-keys/sealed-key.ts";
import { Secret } from "../../../src/kernel/secret.ts";
import { Control } from "../../support/control.ts";
import { oneDatabase, type TestDatabase } from "../../support/servers/databases.ts";

describe.each(oneDatabase)("a key's record on $name", ({ open }) => {
  let database: TestDatabase;
  let control: Control;
  beforeAll(async () => {
    database = await open();
    control = new Control(database.sql);
  }, 60_000);
  afterAll(() => database[Symbol.asyncDispose]());

  async function found(...keys: string[]): Promise<boolean[]> {
    const hashes = keys.map(hashKey);
    const records = await findKeyRecords(hashes, database.sql);
    return hashes.map((hash) => records.has(hash));
  }

  test("a record has the limits of the key and of its workspace", async () => {
    const workspace = await control.workspace("allows");
    const { id, key } = await control.key("allows", { name: "one", monthly_spend_limit_usd: "2.50", rate_limit_rpm: 7 });
    const switches = { fallbacks: false, zero_data_retention: true, prompt_storage: true, cost_in_answers: true };
    const settings = { spend_limit_usd: "30", ...switches, enabled: false };
    await control.expect("PATCH", "/workspaces/allows", { body: settings });
    const records = await findKeyRecords([hashKey(key)], database.sql);
    expect(records.get(hashKey(key))).toEqual({
      id,
      workspace,
      owner: "member@allows",
      name: "one",
      start: key.slice(0, "platform-api-".length + 8),
      requestsPerMinute: 7,
      monthlyLimit: 2_500_000_000n,
      workspaceLimit: 30_000_000_000n,
      dailyLimit: null,
      workspaceDailyLimit: null,
      memberBudget: null,
      enabled: false,
      earlyAccess: [],
      fallbacks: false,
      zeroDataRetention: true,
      promptStorage: true,
      costInAnswers: true,
      idempotentReplay: false,
      ownKeys: null,
      ownKeyFallback: false,
    });
  });

  test("a record says that answers are kept, unless the workspace requires zero data retention", async () => {
    await control.workspace("keeps");
    const { key } = await control.key("keeps");
    const keeps = async (body: object): Promise<boolean | undefined> => {
      await control.expect("PATCH", "/workspaces/keeps", { body });
      return (await findKeyRecords([hashKey(key)], database.sql)).get(hashKey(key))?.idempotentReplay;
    };
    expect(await keeps({ idempotent_replay: true })).toBe(true);
    expect(await keeps({ zero_data_retention: true })).toBe(false);
  });

  test("a record has the workspace's own provider keys, sealed, where they are switched on and not disabled", async () => {
    const workspace = await control.workspace("own");
    const { key } = await control.key("own");
    const dataKey = await dataKeyOf(workspace, { sql: database.sql, keyring: control.keyring });
    const add = (id: string, provider: string, state: string) => database.sql`
      INSERT INTO own_keys (id, workspace_id, provider_id, name, sealed, state, zero_data_retention, checks, created_at, tested_at)
      VALUES (${id}, ${workspace}, ${provider}, 'one', ${Buffer.from(sealOwnKey(new Secret("sk-own"), { workspace, provider, id }, dataKey))},
        ${state}, true, '{c1,c2}', now(), now())`;
    await add("own-1", "alpha", "refused");
    await add("own-2", "beta", "disabled");
    const ownKeys = async () => (await findKeyRecords([hashKey(key)], database.sql)).get(hashKey(key))?.ownKeys;
    expect(await ownKeys()).toBeNull();
    await control.expect("PATCH", "/workspaces/own", { body: { early_access: ["own_keys"] } });
    const [found, ...others] = (await ownKeys()) ?? [];
    expect(others).toEqual([]);
    expect(found).toMatchObject({
      id: "own-1",
      workspace,
      provider: "alpha",
      state: "refused",
      zeroDataRetention: true,
      checks: ["c1", "c2"],
    });
    if (!found) throw new Error("There is no own key");
    expect(openOwnKey(found, control.keyring).reveal()).toBe("sk-own");
    expect(() => openOwnKey({ ...found, provider: "beta" }, control.keyring)).toThrow("belong to something else");
    expect(() => openOwnKey({ ...found, id: "own-2" }, control.keyring)).toThrow("belong to something else");
    await database.sql`DELETE FROM data_keys WHERE workspace_id = ${workspace}`;
    expect(await ownKeys()).toMatchObject([{ id: "own-1", dataKey: null }]);
  });

  test("a member of a writing role has a record under the caller id, without a key's limits, and an auditor has none", async () => {
    const workspace = await control.workspace("callers");
    const callerOf = async (role: string) => (await selectCallerId({ workspace, email: `${role}@callers` }, database.sql)) ?? "";
    const [caller, auditor] = [await callerOf("member"), await callerOf("auditor")];
    expect([caller, auditor]).toEqual([expect.stringMatching(/^mbr-[a-z2-7]{26}$/), expect.stringMatching(/^mbr-[a-z2-7]{26}$/)]);
    expect(await found(caller, auditor)).toEqual([true, false]);
    const record = (await findKeyRecords([hashKey(caller)], database.sql)).get(hashKey(caller));
    const limits = { requestsPerMinute: null, monthlyLimit: null, costInAnswers: true };
    expect(record).toMatchObject({ id: caller, workspace, owner: "member@callers", enabled: true, ...limits });
    await database.sql`UPDATE members SET active = false WHERE email = 'member@callers'`;
    expect(await found(caller)).toEqual([false]);
  });

  test("many hashes are looked up at once, and an unknown hash has no record", async () => {
    await control.workspace("many");
    const [one, two] = [await control.key("many"), await control.key("many")];
    expect(await found(one.key, `platform-api-${"0".repeat(64)}`, two.key)).toEqual([true, false, true]);
    expect(await findKeyRecords([], database.sql)).toEqual(new Map());
  });

  test("a revoked key has no record", async () => {
    await control.workspace("gone");
    const [kept, revoked] = [await control.key("gone"), await control.key("gone")];
    await control.expect("POST", `/keys/${revoked.id}/revoke`);
    expect(await found(kept.key, revoked.key)).toEqual([true, false]);
  });

  test("a tools key has no record, because keys for other purposes cannot call the inference API", async () => {
    await control.workspace("purposes");
    expect(await found((await control.key("purposes", { kind: "tools" })).key)).toEqual([false]);
  });

  test.each(["suspended", "locked", "deleted"])("a key has no record while its owner's account is %s", async (state) => {
    const { sql } = database;
    await control.workspace(`account-${state}`);
    const { key } = await control.key(`account-${state}`);
    await sql`UPDATE accounts SET state = ${state} WHERE email = ${`member@account-${state}`}`;
    expect(await found(key)).toEqual([false]);
    await sql`UPDATE accounts SET state = 'active' WHERE email = ${`member@account-${state}`}`;
    expect(await found(key)).toEqual([true]);
  });

  test("a key has no record while its owner is deactivated in the workspace", async () => {
    await control.workspace("deactivated");
    const { key } = await control.key("deactivated");
    await database.sql`UPDATE members SET active = false WHERE email = 'member@deactivated'`;
    expect(await found(key)).toEqual([false]);
  });
});
