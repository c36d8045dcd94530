/** Several scanners of one database, one of which is killed during a scan. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { databaseLockMs } from "../../../src/backing/limits.ts";
import { scanAttemptsMax, scanLeaseMs, scanRetryMs } from "../../../src/security/limits.ts";
import { silentLog } from "../../../src/kernel/log.ts";
import { systemClock } from "../../../src/kernel/clock.ts";
import { requestScan, requestScansOf } from "../../../src/security/scans/store.ts";
import type { Transaction } from "../../../src/backing/backing.ts";
import { triage } from "../../../src/security/findings/triage/triage.ts";
import { scanNext } from "../../../src/security/findings/scan/scan-next.ts";
import { openPostgres } from "../../../src/backing/postgres/postgres.ts";
import type { WorkspaceId } from "../../../src/kernel/ids.ts";
import { Secret } from "../../../src/kernel/secret.ts";
import { startScanner } from "../../../workers/scanner.ts";
import { ManualClock } from "../../support/clock.ts";
import { Control } from "../../support/control.ts";
import { FakeBus } from "../../support/servers/fake-bus.ts";
import { OurProcess } from "../../support/processes/process.ts";
import { fixedIn, SecurityWorld } from "../../support/security/security-world.ts";
import { createMigratedDatabase } from "../../support/servers/prepared-databases.ts";
import { testServices } from "../../support/servers/services.ts";
import { waitsForLock } from "../../support/servers/waits-for-lock.ts";
import { until } from "../../support/until.ts";

const services = await testServices();
const packages = Array.from({ length: 600 }, (_, index) => `package-${index}`);

describe.skipIf(services === null)("scanners that share a database", () => {
  let url = "";
  let database: ReturnType<typeof openPostgres>;
  let world: SecurityWorld;
  beforeAll(async () => {
    ({ url } = await createMigratedDatabase(services?.urls.DATABASE_URL ?? ""));
    database = openPostgres({ url: new Secret(url), applicationName: "weir tests", clock: systemClock });
    const control = new Control(database.sql);
    const workspace = await control.workspace("w");
    world = new SecurityWorld({ sql: database.sql, clock: new ManualClock(Date.now() - 1_000), workspace });
    await world.publish(
      ...packages.map((name, index) => ({
        id: `OSV-${index}`,
        affected: [{ ecosystem: "npm" as const, name, ranges: fixedIn("2.0.0") }],
      })),
    );
  }, 60_000);
  afterAll(() => database[Symbol.asyncDispose]());

  const upload = async (name: string, some: readonly string[]) => {
    const project = await world.project(name);
    await world.upload(
      project,
      some.map((each) => `pkg:npm/${each}@1.0.0`),
    );
    return project;
  };
  /** No time passes during it, so that its slice does not end on a busy machine. */
  const scanOnce = () =>
    scanNext({ sql: database.sql, clock: new ManualClock(Date.now()), log: silentLog }, new AbortController().signal);
  const status = async (project: string) => (await world.scanState(project))["scan_status"];
  const count = async (project: string) => {
    const [row] =
      await database.sql`SELECT count(*)::integer AS count FROM findings WHERE project_id = ${project} AND status = 'open'`;
    return Number(row?.["count"]);
  };
  const eventsOf = async (project: string) => {
    const [row] = await database.sql`
      SELECT count(*)::integer AS count FROM finding_events WHERE project_id = ${project}`;
    return Number(row?.["count"]);
  };

  test("another scanner completes the scan of a killed one: no finding is missing, and none is duplicated", async () => {
    const project = await upload("killed", packages);
    // Stops the scan before its last package, so that the scanner cannot complete it before it is killed.
    await using last = await hold((tx) => tx`SELECT FROM packages WHERE name = ${packages.at(-1) ?? ""} FOR UPDATE`);
    await using scanner = new OurProcess({ arguments: ["test/support/processes/scanning-process.ts", url], environment: {} });
    await until(async () => (await count(project)) > 0, 30_000);
    await scanner.kill();
    await last.end();
    const done = await count(project);
    expect(done).toBeGreaterThan(0);
    expect(done).toBeLessThan(packages.length);
    expect(await status(project)).toBe("scanning");
    const clock = new ManualClock(Date.now());
    await using _other = startScanner({ sql: database.sql, bus: new FakeBus(), clock, log: silentLog });
    await until(() => clock.pending > 0);
    expect(await status(project)).toBe("scanning");
    clock.advance(scanLeaseMs);
    // The killed one's connection keeps its locks until the server has noticed, so the first attempts may fail; they are made again later.
    await until(async () => {
      clock.advance(scanRetryMs);
      return (await status(project)) === "completed";
    }, 30_000);
    expect(await count(project)).toBe(packages.length);
    expect(await eventsOf(project)).toBe(packages.length);
  }, 90_000);

  test("five scanners divide ten projects: one of them scans each project", async () => {
    const names = Array.from({ length: 10 }, (_, index) => `shared-${index}`);
    const projects = await Promise.all(names.map((name) => upload(name, packages.slice(0, 20))));
    const bus = new FakeBus();
    const clock = new ManualClock(Date.now());
    await using stack = new AsyncDisposableStack();
    for (let n = 0; n < 5; n++) stack.use(startScanner({ sql: database.sql, bus, clock, log: silentLog }));
    await until(async () => {
      const states = await Promise.all(projects.map(status));
      return states.every((state) => state === "completed");
    }, 30_000);
    for (const project of projects) expect([await count(project), await eventsOf(project)]).toEqual([20, 20]);
  }, 60_000);

  test("a request during a scan starts another scan", async () => {
    const project = await upload("asked", packages.slice(0, 5));
    await using held = await hold((tx) => tx`LOCK TABLE affected_packages IN ACCESS EXCLUSIVE MODE`);
    const scanned = scanOnce();
    await waitsForLock(database.sql);
    await database.sql.begin((tx) => requestScan({ project, at: new Date() }, tx));
    expect(await status(project)).toBe("pending");
    await held.end();
    await scanned;
    expect(await world.scanState(project)).toMatchObject({ scan_status: "pending", last_scanned_at: null });
    await scanOnce();
    expect(await status(project)).toBe("completed");
    expect(await eventsOf(project)).toBe(5);
  }, 30_000);

  /** A transaction that stays open until it is ended. */
  async function hold(work: (tx: Transaction) => PromiseLike<unknown>) {
    const gate = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    const running = database.sql.begin(async (tx) => {
      await tx`SET LOCAL idle_in_transaction_session_timeout = 0`;
      await work(tx);
      held.resolve();
      await gate.promise;
    });
    await held.promise;
    const end = async () => {
      gate.resolve();
      await running;
    };
    return { end, [Symbol.asyncDispose]: end };
  }

  /** An import that has requested scans and stays open. */
  const holdKnowledge = () => hold((tx) => requestScansOf({ packages: [-1n], at: new Date() }, tx));

  test("a scanner waits longer than other statements for an import that locks its project", async () => {
    const project = await upload("imported", packages.slice(0, 5));
    await using importing = await hold((tx) => tx`SELECT FROM projects WHERE id = ${project} FOR NO KEY UPDATE`);
    const skipped = await scanOnce();
    expect(skipped).toBe(false);
    await importing.end();
    await using held = await hold((tx) => tx`LOCK TABLE affected_packages IN ACCESS EXCLUSIVE MODE`);
    const scanned = scanOnce();
    await waitsForLock(database.sql);
    await using batch = await hold((tx) => tx`SELECT FROM projects WHERE id = ${project} FOR NO KEY UPDATE`);
    await held.end();
    const waits = async () => database.sql`
      SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND clock_timestamp() - query_start > ${`${databaseLockMs + 200} ms`}::interval`;
    await until(async () => (await waits()).length > 0);
    await batch.end();
    await scanned;
    expect(await world.scanState(project)).toMatchObject({ scan_status: "completed", scan_attempts: 0 });
    expect(await eventsOf(project)).toBe(5);
  }, 30_000);

  test("triage waits longer than other statements for a transaction that locks its project", async () => {
    const project = await upload("decided", packages.slice(0, 5));
    await scanOnce();
    const [finding] = await world.findings(project);
    await using batch = await hold((tx) => tx`SELECT FROM projects WHERE id = ${project} FOR NO KEY UPDATE`);
    const deciding = triage(
      {
        actor: { kind: "operator" },
        workspace: world.workspace as WorkspaceId,
        decided: { finding: finding?.id ?? "", status: "ignored" },
      },
      { sql: database.sql, clock: systemClock },
    );
    const waits = async () => database.sql`
      SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND clock_timestamp() - query_start > ${`${databaseLockMs + 200} ms`}::interval`;
    await until(async () => (await waits()).length > 0);
    await batch.end();
    expect((await deciding).status).toBe("ignored");
  }, 30_000);

  test("a scanner whose lease has expired writes nothing more", async () => {
    const project = await upload("slow", packages.slice(0, 5));
    const slow = new ManualClock(Date.now());
    await using asking = await holdKnowledge();
    const lost = scanNext({ sql: database.sql, clock: slow, log: silentLog }, new AbortController().signal);
    await until(async () => (await status(project)) === "scanning");
    const later = new ManualClock(Date.now() + 2 * scanLeaseMs);
    const taken = scanNext({ sql: database.sql, clock: later, log: silentLog }, new AbortController().signal);
    await until(async () => Number((await world.scanState(project))["scan_attempts"]) === 2);
    await asking.end();
    await Promise.all([lost, taken]);
    expect(await status(project)).toBe("completed");
    expect(await eventsOf(project)).toBe(5);
  }, 30_000);

  test("a project whose scans all die has failed, with a message, until the next request", async () => {
    const project = await upload("doomed", packages.slice(0, 5));
    await database.sql`
      UPDATE projects SET scan_status = 'scanning', scan_attempts = ${scanAttemptsMax}, scan_due_at = ${new Date(0)} WHERE id = ${project}`;
    await scanOnce();
    expect(await world.scanState(project)).toMatchObject({
      scan_status: "failed",
      scan_failure: expect.stringContaining("could not be completed in 6 attempts"),
      last_scanned_at: null,
    });
    await world.upload(project, []);
    await scanOnce();
    expect(await world.scanState(project)).toMatchObject({ scan_status: "completed", scan_failure: null });
  }, 30_000);

  test("a scan with an error is retried, after a longer pause each time", async () => {
    const project = await upload("broken", packages.slice(0, 5));
    await database.sql`ALTER TABLE finding_events RENAME TO hidden`;
    const clock = new ManualClock(Date.now());
    try {
      await scanNext({ sql: database.sql, clock, log: silentLog }, new AbortController().signal);
      expect(await world.scanState(project)).toMatchObject({ scan_status: "pending", scan_attempts: 1 });
      expect(await scanNext({ sql: database.sql, clock, log: silentLog }, new AbortController().signal)).toBe(false);
      clock.advance(1_000);
      await scanNext({ sql: database.sql, clock, log: silentLog }, new AbortController().signal);
      expect(await world.scanState(project)).toMatchObject({ scan_status: "pending", scan_attempts: 2 });
    } finally {
      await database.sql`ALTER TABLE hidden RENAME TO finding_events`;
    }
    clock.advance(2_000);
    await scanNext({ sql: database.sql, clock, log: silentLog }, new AbortController().signal);
    expect([await status(project), await eventsOf(project)]).toEqual(["completed", 5]);
  }, 30_000);

  test("a scanner that stops releases its project at once", async () => {
    const project = await upload("stopped", packages.slice(0, 5));
    const stop = new AbortController();
    await using asking = await holdKnowledge();
    const stopped = scanNext({ sql: database.sql, clock: systemClock, log: silentLog }, stop.signal);
    await until(async () => (await status(project)) === "scanning");
    stop.abort();
    await asking.end();
    await stopped;
    expect(await world.scanState(project)).toMatchObject({ scan_status: "pending", scan_attempts: 0 });
    await scanOnce();
    expect(await status(project)).toBe("completed");
  }, 30_000);
});
