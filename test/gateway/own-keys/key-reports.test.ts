/** What gateways store of how providers take own keys. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { OwnKey } from "../../../src/accounts/keys/record.ts";
import type { Backing } from "../../../src/backing/backing.ts";
import { keyRecordAgeMsMax, ownKeyMailPauseMs, ownKeyStatePauseMs, ownKeyUseMs } from "../../../src/gateway/limits.ts";
import { silentLog } from "../../../src/kernel/log.ts";
import { openKeyReports } from "../../../src/server/own-keys.ts";
import { ManualClock } from "../../support/clock.ts";
import { Control } from "../../support/control.ts";
import { ownKey } from "../../support/gateway/own-keys.ts";
import { oneDatabase, type TestDatabase } from "../../support/servers/databases.ts";
import { FakeBus } from "../../support/servers/fake-bus.ts";
import { until } from "../../support/until.ts";

describe.each(oneDatabase)("reports about own keys on $name", ({ open }) => {
  let database: TestDatabase;
  let control: Control;
  let made = 0;
  beforeAll(async () => {
    database = await open();
    control = new Control(database.sql);
  }, 60_000);
  afterAll(() => database[Symbol.asyncDispose]());

  async function stored(): Promise<{
    key: OwnKey;
    name: string;
    clock: ManualClock;
    reports: ReturnType<typeof openKeyReports>;
  }> {
    const name = `reported${++made}`;
    const workspace = await control.workspace(name);
    const key = ownKey({ id: `own-${made}`, workspace });
    await database.sql`
      INSERT INTO own_keys (id, workspace_id, provider_id, name, sealed, state, zero_data_retention, created_at, tested_at)
      VALUES (${key.id}, ${workspace}, 'stub', 'one', decode(${key.sealed}, 'base64'), 'active', false, now(), now())`;
    const clock = new ManualClock();
    const backing: Backing = { sql: database.sql, reads: database.sql, bus: new FakeBus() };
    return { key, name, clock, reports: openKeyReports({ backing, clock, log: silentLog }) };
  }

  const row = async ({ id }: OwnKey) => {
    const [found] = await database.sql`SELECT state, last_used_at FROM own_keys WHERE id = ${id}`;
    return found ?? {};
  };
  const events = async ({ id }: OwnKey) =>
    (await database.sql`SELECT event FROM audit_events WHERE target = ${id} ORDER BY id`).map(({ event }) => event as string);
  const mails = async (name: string) =>
    (await database.sql`SELECT recipient FROM mails WHERE recipient LIKE ${`%@${name}`} ORDER BY recipient`).map(
      ({ recipient }) => recipient as string,
    );

  test("a refusal is stored, audited, and mailed to admins alone; an answer makes the key active again", async () => {
    const { key, name, clock, reports } = await stored();
    for (let n = 0; n < 3; n++) reports.refused(key);
    await until(async () => (await row(key))["state"] === "refused");
    expect(await mails(name)).toEqual([`admin@${name}`, `super_admin@${name}`]);
    clock.advance(ownKeyStatePauseMs);
    reports.accepted(key);
    await until(async () => (await row(key))["state"] === "active");
    expect(await events(key)).toEqual(["provider.key.refused", "provider.key.accepted"]);
  });

  test("admins get one mail a day, however often the provider changes its mind", async () => {
    const { key, name, clock, reports } = await stored();
    for (const state of ["refused", "active", "refused"]) {
      if (state === "refused") reports.refused(key);
      else reports.accepted(key);
      await until(async () => (await row(key))["state"] === state);
      clock.advance(ownKeyStatePauseMs);
    }
    expect(await mails(name)).toHaveLength(2);
    reports.accepted(key);
    await until(async () => (await row(key))["state"] === "active");
    clock.advance(ownKeyMailPauseMs);
    reports.refused(key);
    await until(async () => (await row(key))["state"] === "refused");
    expect(await mails(name)).toHaveLength(4);
  });

  test("a refusal of a key that has been replaced says nothing about its successor", async () => {
    const { key, name, reports } = await stored();
    await database.sql`UPDATE own_keys SET sealed = 'another' WHERE id = ${key.id}`;
    reports.refused(key);
    const other = await stored();
    other.reports.refused(other.key);
    await until(async () => (await row(other.key))["state"] === "refused");
    expect(await row(key)).toMatchObject({ state: "active" });
    expect(await mails(name)).toEqual([]);
  });

  test("a gateway whose record says refused makes the key active after an answer, also if another gateway saw the refusal", async () => {
    const { key, reports } = await stored();
    await database.sql`UPDATE own_keys SET state = 'refused' WHERE id = ${key.id}`;
    reports.accepted({ ...key, state: "refused" });
    await until(async () => (await row(key))["state"] === "active");
  });

  test("the last use is stored once a minute", async () => {
    const { key, clock, reports } = await stored();
    reports.accepted(key);
    await until(async () => (await row(key))["last_used_at"] !== null);
    const first = (await row(key))["last_used_at"];
    clock.advance(ownKeyUseMs - 1);
    reports.accepted(key);
    clock.advance(1);
    reports.accepted(key);
    await until(async () => String((await row(key))["last_used_at"]) !== String(first));
    expect((await row(key))["last_used_at"]).toEqual(new Date(clock.now()));
    expect(ownKeyUseMs).toBeGreaterThan(keyRecordAgeMsMax);
  });
});
