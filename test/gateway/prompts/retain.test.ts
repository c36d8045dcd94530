/** Stored prompts are deleted after the days that a workspace keeps them, and without that setting stay. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { deletePromptsOf } from "../../../src/gateway/prompts/prompts.ts";
import {
  promptDeleteBatchMax,
  promptRetentionBatchMax,
  promptRetentionMs,
  promptRetentionStepMs,
} from "../../../src/gateway/prompts/limits.ts";
import { retainPrompts, startPromptRetention } from "../../../src/gateway/prompts/retain.ts";
import { EmbeddedBus } from "../../../src/backing/embedded/bus.ts";
import { EmbeddedCounters } from "../../../src/backing/embedded/counters.ts";
import { systemClock } from "../../../src/kernel/clock.ts";
import { newGenerationId } from "../../../src/kernel/ids.ts";
import { silentLog } from "../../../src/kernel/log.ts";
import { startMetering } from "../../../workers/metering.ts";
import { deletePromptsBefore } from "../../../src/gateway/prompts/store.ts";
import { ManualClock } from "../../support/clock.ts";
import { Control } from "../../support/control.ts";
import { databases, type TestDatabase } from "../../support/servers/databases.ts";
import { waitsForLock } from "../../support/servers/waits-for-lock.ts";
import { until } from "../../support/until.ts";
import { Weir } from "../../support/weir.ts";

const noon = Date.UTC(2026, 10, 20, 12);
const dayMs = 86_400_000;

describe.each(databases)("the retention of prompts on $name", ({ name: databaseName, open, runsAll }) => {
  let database: TestDatabase;
  let control: Control;
  let weir: Weir;
  beforeAll(async () => {
    database = await open();
    control = new Control(database.sql);
    weir = new Weir(control);
  }, 60_000);
  afterAll(async () => {
    await weir[Symbol.asyncDispose]();
    await database[Symbol.asyncDispose]();
  });

  const newWorkspace = async (days: number | null): Promise<string> => {
    const { id } = await control.expect("POST", "/workspaces", { body: { name: `kept-${crypto.randomUUID()}` } });
    await keepFor(days, String(id));
    return String(id);
  };
  const keepFor = (days: number | null, id: string) =>
    control.expect("PATCH", `/workspaces/${id}`, { body: { prompt_storage: true, prompt_retention_days: days } });

  /** Prompts whose texts are never read, each a millisecond older than the one before. */
  const store = async (workspace: string, { at = noon, count = 1, bytes = 8 } = {}): Promise<void> => {
    const rows = Array.from({ length: count }, (_, n) => ({ id: newGenerationId(at - n), at: new Date(at - n).toISOString() }));
    for (let from = 0; from < count; from += 1_000)
      await database.sql`
        INSERT INTO stored_prompts (generation_id, workspace_id, at, messages, answer_cut)
        SELECT row->>'id', ${workspace}, (row->>'at')::timestamptz, convert_to(repeat('x', ${bytes}), 'UTF8'), false
        FROM jsonb_array_elements(${JSON.stringify(rows.slice(from, from + 1_000))}::text::jsonb) AS row`;
  };
  const stored = async (workspace: string) =>
    (await database.sql<{ n: number }[]>`SELECT count(*)::integer AS n FROM stored_prompts WHERE workspace_id = ${workspace}`)[0]
      ?.n;
  const parts = (nowMs = noon) => ({ sql: database.sql, clock: new ManualClock(nowMs), log: silentLog });
  const deletions = async (workspace: string) =>
    (await control.list("/audit?event=prompts.deleted")).filter(({ target }) => target === workspace);

  test("a prompt is deleted once it is as old as the workspace keeps it, and recorded as Weir's act; others stay", async () => {
    const [kept, none] = [await newWorkspace(30), await newWorkspace(null)];
    for (const workspace of [kept, none]) {
      await store(workspace, { at: noon - 30 * dayMs });
      await store(workspace, { at: noon - 30 * dayMs - 1 });
      await store(workspace, { at: noon - 4_000 * dayMs });
    }
    expect(await retainPrompts(parts())).toBe(2);
    expect([await stored(kept), await stored(none)]).toEqual([1, 3]);
    expect(await retainPrompts(parts())).toBe(0);
    expect(await deletions(none)).toEqual([]);
    expect(await deletions(kept)).toMatchObject([
      {
        actor: "weir",
        role: "service",
        workspace_id: kept,
        changes: {
          before: { from: null, to: "2026-10-21T12:00:00.000Z" },
          deleted: { from: null, to: 2 },
          prompt_retention_days: { from: null, to: 30 },
        },
      },
    ]);
  });

  test("prompts are deleted by whole hours, so that a busy workspace does not fill its audit log", async () => {
    const workspace = await newWorkspace(1);
    await store(workspace, { at: noon - dayMs });
    await retainPrompts(parts(noon + promptRetentionStepMs - 1));
    expect(await stored(workspace)).toBe(1);
    await retainPrompts(parts(noon + promptRetentionStepMs));
    expect(await stored(workspace)).toBe(0);
  });

  test("a shorter retention deletes within a minute, also while storage is off, and a longer one deletes nothing", async () => {
    const workspace = await newWorkspace(null);
    await store(workspace, { at: noon - 10 * dayMs });
    await control.expect("PATCH", `/workspaces/${workspace}`, { body: { prompt_storage: false } });
    const clock = new ManualClock(noon);
    await using _retention = startPromptRetention({ ...parts(), clock });
    await until(() => clock.pending === 1);
    await control.expect("PATCH", `/workspaces/${workspace}`, { body: { prompt_retention_days: 11 } });
    await clock.pass(promptRetentionMs);
    await until(() => clock.pending === 1);
    expect(await stored(workspace)).toBe(1);
    await control.expect("PATCH", `/workspaces/${workspace}`, { body: { prompt_retention_days: 9 } });
    await clock.pass(promptRetentionMs);
    // The pause after the batch is over as soon as the clock moves.
    await until(async () => (await clock.pass(1), (await stored(workspace)) === 0));
  });

  test("each process that meters deletes them, in one process and in a fleet", async () => {
    const workspace = await newWorkspace(30);
    await store(workspace, { at: systemClock.now() - 31 * dayMs });
    const shared = { sql: database.sql, clock: systemClock, log: silentLog };
    await using bus = new EmbeddedBus(shared);
    const backing = { sql: database.sql, reads: database.sql, bus };
    const lock = async () => new AsyncDisposableStack();
    await using _metering = await startMetering({ ...shared, backing, counters: new EmbeddedCounters(systemClock), lock });
    await until(async () => (await stored(workspace)) === 0);
  });

  test("the setting is an admin's, by the command line too, and audited", async () => {
    await control.workspace("mine");
    const set = (...words: string[]) => weir.json("workspace", "set", "--workspace", "mine", ...words);
    expect(await set("--prompt-retention-days", "30", "--as", "admin@mine")).toMatchObject({ prompt_retention_days: 30 });
    for (const role of ["member", "auditor"]) {
      const refusal = await weir.refusal(
        "workspace",
        "set",
        "--workspace",
        "mine",
        "--prompt-retention-days",
        "1",
        "--as",
        `${role}@mine`,
      );
      expect(refusal).toContain(`as ${role}: it requires the role admin or super_admin`);
    }
    expect(await set("--prompt-retention-days", "none")).toMatchObject({ prompt_retention_days: null });
    expect((await control.list("/audit?workspace=mine&event=workspace.updated")).map(({ changes }) => changes)).toEqual([
      { prompt_retention_days: { from: 30, to: null } },
      { prompt_retention_days: { from: null, to: 30 } },
    ]);
  });

  test.each([0, -1, 1.5, 1e9, 3_651, "30", true, {}])("%p is no number of days to keep prompts", async (days) => {
    const { id } = await control.expect("POST", "/workspaces", { body: { name: crypto.randomUUID() } });
    const body = { prompt_retention_days: days };
    expect(await control.refusal("PATCH", `/workspaces/${String(id)}`, { body })).toBe("400 invalid_field prompt_retention_days");
    expect(await control.expect("GET", `/workspaces/${String(id)}`)).toMatchObject({ prompt_retention_days: null });
  });

  test("a workspace's prompts are counted, with the time of the oldest, for those who oversee it", async () => {
    await control.workspace("counted");
    const count = (as: string) => weir.json("prompt", "count", "--workspace", "counted", "--as", `${as}@counted`);
    expect(await count("auditor")).toEqual({ count: 0, more: false, oldest_at: null });
    await store(String((await control.expect("GET", "/workspaces/counted"))["id"]), { count: 3 });
    expect(await count("admin")).toEqual({ count: 3, more: false, oldest_at: "2026-11-20T11:59:59.998Z" });
    expect(await weir.refusal("prompt", "count", "--workspace", "counted", "--as", "member@counted")).toContain("as member");
  });

  if (!runsAll) return;

  test("several workers delete each prompt once, in batches, and record how many", async () => {
    const workspaces = [await newWorkspace(1), await newWorkspace(1)];
    const count = 3 * promptRetentionBatchMax + 7;
    for (const workspace of workspaces) await store(workspace, { at: noon - 2 * dayMs, count });
    const totals = await Promise.all([parts(), parts(), parts()].map((worker) => retainPrompts(worker)));
    expect(totals.reduce((sum, total) => sum + total)).toBe(2 * count);
    for (const workspace of workspaces) {
      expect(await stored(workspace)).toBe(0);
      const recorded = (await deletions(workspace)).map(({ changes }) => (changes as { deleted: { to: number } }).deleted.to);
      expect(recorded.reduce((sum, deleted) => sum + deleted)).toBe(count);
      expect(Math.max(...recorded)).toBeLessThanOrEqual(promptRetentionBatchMax);
    }
  });

  test("a deletion that somebody asked for goes on after the rows that another one is deleting", async () => {
    // The embedded database has one connection.
    if (databaseName === "the embedded database") return;
    const workspace = await newWorkspace(null);
    await store(workspace, { at: noon - 2 * dayMs, count: promptDeleteBatchMax });
    await store(workspace, { at: noon - 1, count: 5 });
    const holder = await database.sql.reserve();
    await holder`BEGIN`;
    await holder`DELETE FROM stored_prompts WHERE workspace_id = ${workspace} AND at <= ${new Date(noon - 2 * dayMs)}`;
    const asked = { actor: { kind: "operator" }, workspace, before: new Date(noon).toISOString() } as const;
    const deleted = deletePromptsOf(asked, parts());
    await waitsForLock(database.sql);
    await holder`COMMIT`;
    holder.release();
    expect(await deleted).toEqual({ deleted: 5 });
    expect(await stored(workspace)).toBe(0);
  });

  test("a statement deletes as many bytes as it may, and at least one prompt, so that none takes seconds", async () => {
    const workspace = await newWorkspace(null);
    await store(workspace, { at: noon - 2 * dayMs, count: 5, bytes: 50 });
    const batch = (bytesMax: number) =>
      database.sql.begin((tx) => deletePromptsBefore({ workspace, before: new Date(noon), limit: 100, bytesMax }, tx));
    expect([await batch(100), await batch(99), await batch(1), await batch(1)].map(Number)).toEqual([2, 2, 1, 0]);
  });

  test("nothing is deleted by a setting that was changed meanwhile", async () => {
    // The embedded database has one connection.
    if (databaseName === "the embedded database") return;
    const workspace = await newWorkspace(1);
    await store(workspace, { at: noon - 2 * dayMs });
    const holder = await database.sql.reserve();
    await holder`BEGIN`;
    await holder`UPDATE workspaces SET prompt_retention_days = NULL WHERE id = ${workspace}`;
    const retained = retainPrompts(parts());
    await waitsForLock(database.sql);
    await holder`COMMIT`;
    holder.release();
    expect(await retained).toBe(0);
    expect(await stored(workspace)).toBe(1);
  });
});
