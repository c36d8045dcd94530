/** Copies of key records are dropped after a change, by the kind of its event. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { change } from "../../../src/accounts/audit/change.ts";
import { changesRecords, type AuditKind } from "../../../src/accounts/audit/events.ts";
import { notifying, type Database, type Transaction } from "../../../src/backing/backing.ts";
import { ManualClock } from "../../support/clock.ts";
import { Notified } from "../../support/notified.ts";
import { oneDatabase, type TestDatabase } from "../../support/servers/databases.ts";

const kinds = Object.keys(changesRecords).filter((kind): kind is AuditKind => kind in changesRecords);

/** Records are made of these: a new kind of theirs says yes, or stands here with the reason in the table of events. */
const ofRecords =
  /^(auth\.api\.key|provider\.key|workspace\.member)\.|^workspace\.updated$|^project\.removed$|^account\.(un)?(suspended|locked)$|^account\.deleted$/;
const exceptions: readonly AuditKind[] = ["provider.key.refused", "provider.key.accepted"];

test("every kind of event of a key, an owner, a member, a workspace, an own key and a scope has copies of records dropped", () => {
  const saysNo = kinds.filter((kind) => ofRecords.test(kind) && !changesRecords[kind]);
  expect(saysNo.toSorted()).toEqual(exceptions.toSorted());
  expect(kinds.filter((kind) => changesRecords[kind] && !ofRecords.test(kind))).toEqual([]);
});

describe.each(oneDatabase)("a change on $name", ({ open }) => {
  let database: TestDatabase;
  let notified: Notified;
  let sql: Database;
  beforeAll(async () => {
    database = await open();
    notified = new Notified();
    sql = notifying(database.sql, notified.notify);
  });
  afterAll(() => database[Symbol.asyncDispose]());

  const clock = new ManualClock();
  const count = () => notified.count("records-changed");
  const record = (event: AuditKind, on: Database | Transaction) =>
    change({ kind: "service" }, { sql: on, clock }, async () => ({
      result: null,
      event: { event, workspace: null, target: null, changes: {} },
    }));

  test.each(kinds)("%s notifies as its kind says", async (kind) => {
    const before = count();
    await record(kind, sql);
    expect(count() - before).toBe(changesRecords[kind] ? 1 : 0);
  });

  test("one that changes nothing notifies of nothing", async () => {
    const before = count();
    await change({ kind: "service" }, { sql, clock }, async () => ({ result: null, event: null }));
    expect(count()).toBe(before);
  });

  test("several in one transaction notify once, after its commit", async () => {
    const before = count();
    await sql.begin(async (tx) => {
      await record("auth.api.key.revoked", tx);
      await record("workspace.member.deactivated", tx);
      expect(count()).toBe(before);
    });
    expect(count()).toBe(before + 1);
  });

  test("one that is rolled back notifies of nothing", async () => {
    const before = count();
    const rolledBack = sql.begin(async (tx) => {
      await record("workspace.updated", tx);
      throw new Error("undone");
    });
    await expect(rolledBack).rejects.toThrow("undone");
    expect(count()).toBe(before);
  });

  test("one on a handle that reaches no bus is refused, as copies of records would stay", async () => {
    await expect(record("auth.api.key.revoked", database.sql)).rejects.toThrow('Cannot notify of "records-changed"');
    await record("workspace.created", database.sql);
  });
});
