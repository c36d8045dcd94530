/** Fair scheduling of scans: short transactions, time slices, the workspace with the least scanner time first, and queue positions. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { scanNext } from "../../../src/security/findings/scan/scan-next.ts";
import { silentLog } from "../../../src/kernel/log.ts";
import { scanFindingsMax } from "../../../src/security/limits.ts";
import { selectQueuePositions } from "../../../src/security/scans/store.ts";
import { ManualClock } from "../../support/clock.ts";
import { Control } from "../../support/control.ts";
import { databases, type TestDatabase } from "../../support/servers/databases.ts";
import { fixedIn, lodash, SecurityWorld } from "../../support/security/security-world.ts";

/** A clock that moves with each reading: a hundred readings are a second. */
class BusyClock extends ManualClock {
  override monotonic(): number {
    this.advance(10);
    return super.monotonic();
  }
}

const versions = (count: number) => Array.from({ length: count }, (_, index) => `pkg:npm/lodash@1.0.${index}`);

describe.each(databases)("scans on $name", ({ open, runsAll }) => {
  let database: TestDatabase;
  let world: SecurityWorld;
  let theirs: string;
  beforeAll(async () => {
    database = await open();
    const control = new Control(database.sql);
    world = new SecurityWorld({ sql: database.sql, clock: control.clock, workspace: await control.workspace("w") });
    theirs = await control.workspace("theirs");
  }, 60_000);
  afterAll(() => database[Symbol.asyncDispose]());
  beforeEach(async () => {
    await world.clear();
    await database.sql`DELETE FROM scan_shares`;
  });
  const statusOf = async (project: string) => (await world.scanState(project))["scan_status"];
  const count = async (project: string) => (await world.findings(project)).length;
  /** Runs slices until these projects are scanned. @returns the order in which their scans ended */
  const scanAll = async (projects: Record<string, string>): Promise<string[]> => {
    const clock = new BusyClock(world.clock.now() + 1_000);
    const done: string[] = [];
    while (await scanNext({ sql: database.sql, clock, log: silentLog }, new AbortController().signal)) {
      for (const [name, project] of Object.entries(projects)) {
        if (!done.includes(name) && (await statusOf(project)) === "completed") done.push(name);
      }
    }
    return done;
  };

  test("each waiting project shows its queue position, in which the workspaces alternate", async () => {
    const first = await world.project("first");
    const second = await world.project("second");
    const third = await world.project("third");
    const other = await world.project("other", theirs);
    for (const project of [first, second, third, other]) {
      await world.upload(project, versions(1));
      world.clock.advance(10);
    }
    const positions = async () => {
      const found = await selectQueuePositions(
        { projects: [first, second, third, other], now: new Date(world.clock.now()) },
        database.sql,
      );
      return [first, second, third, other].map((project) => found.get(project));
    };
    const [ahead, ...rest] = await positions();
    expect([ahead, rest[2]].toSorted()).toEqual([0, 1]);
    expect(rest.slice(0, 2)).toEqual([2, 3]);
    await world.scan();
    expect(await positions()).toEqual([undefined, undefined, undefined, undefined]);
  });

  if (!runsAll) return;

  test("an issue that affects more versions than a transaction may have is written in several", async () => {
    await world.publish(lodash("CVE-1"), lodash("CVE-2"));
    const project = await world.project("many");
    await world.upload(project, versions(300));
    await world.scan();
    const [largest] = await database.sql`
      SELECT count(*)::integer AS rows FROM findings WHERE project_id = ${project} GROUP BY xmin::text ORDER BY 1 DESC LIMIT 1`;
    expect(largest?.["rows"]).toBeLessThanOrEqual(scanFindingsMax);
    expect(await count(project)).toBe(600);
    await world.upload(project, []);
    await world.scan();
    const [resolved] = await database.sql`
      SELECT count(*)::integer AS rows FROM findings WHERE project_id = ${project} AND NOT present GROUP BY xmin::text ORDER BY 1 DESC LIMIT 1`;
    expect(resolved?.["rows"]).toBeLessThanOrEqual(scanFindingsMax);
  }, 60_000);

  test("a reopened issue is open for all versions, in whichever transaction they are written", async () => {
    await world.publish(lodash("CVE-1"));
    const project = await world.project("claimed");
    await world.upload(project, versions(300));
    await world.scan();
    await database.sql`
      INSERT INTO triages (project_id, package_id, vulnerability_id, status, false_positive, decided_by, decided_at)
      SELECT DISTINCT project_id, package_id, vulnerability_id, 'resolved', false, 'member@w', ${new Date(world.clock.now())}::timestamptz FROM findings`;
    await world.upload(project, versions(300));
    await world.scan();
    const states = async () =>
      (await database.sql`SELECT status, count(*)::integer AS count FROM findings GROUP BY status`).map((row) => ({ ...row }));
    expect(await states()).toEqual([{ status: "resolved", count: 300 }]);
    await world.upload(project, [...versions(300), "pkg:npm/lodash@4.0.0"]);
    await world.scan();
    expect(await states()).toEqual([{ status: "open", count: 301 }]);
    const [followed] = await database.sql`
      SELECT count(*)::integer AS count FROM finding_events WHERE cause = 'decision_followed' AND changes->'status'->>'to' = 'open'`;
    expect(followed?.["count"]).toBe(300);
  }, 60_000);

  test("a small SBOM waits neither for a large one of another workspace nor for one of its own", async () => {
    await world.publish(lodash("CVE-1"), lodash("CVE-2"));
    const large = await world.project("large");
    await world.upload(large, versions(350));
    const also = await world.project("also large");
    await world.upload(also, versions(350));
    const own = await world.project("own");
    await world.upload(own, versions(2));
    const other = await world.project("other", theirs);
    await world.upload(other, versions(2));
    const order = await scanAll({ large, also, own, other });
    expect(order.slice(0, 2).toSorted()).toEqual(["other", "own"]);
    expect(order.toSorted()).toEqual(["also", "large", "other", "own"]);
    expect(await count(large)).toBe(700);
  }, 60_000);

  test("a scan with several slices resumes at its position, and counts as one scan", async () => {
    await world.publish(lodash("CVE-1"));
    const project = await world.project("sliced");
    await world.upload(project, ["pkg:npm/lodash@latest", ...versions(350)]);
    const clock = new BusyClock(world.clock.now() + 1_000);
    let slices = 0;
    let seen = 0;
    while (await scanNext({ sql: database.sql, clock, log: silentLog }, new AbortController().signal)) {
      slices++;
      const now = await count(project);
      expect(now).toBeGreaterThanOrEqual(seen);
      seen = now;
    }
    expect(slices).toBeGreaterThan(1);
    const [totals] = await database.sql`
      SELECT count(DISTINCT first_seen)::integer AS scans, count(*)::integer AS findings, max(last_seen) = min(first_seen) AS once FROM findings`;
    expect({ ...totals }).toEqual({ scans: 1, findings: 350, once: true });
    const [events] = await database.sql`SELECT count(*)::integer AS count FROM finding_events`;
    expect(events?.["count"]).toBe(350);
    expect(await world.unknowns(project)).toHaveLength(1);
    expect(await world.scanState(project)).toMatchObject({ scan_status: "completed", scan_attempts: 0 });
  }, 60_000);

  test("a new SBOM during a scan is scanned from its beginning, and no finding of the former SBOM stays open", async () => {
    await world.publish(lodash("CVE-1"));
    const project = await world.project("replaced");
    await world.upload(project, versions(350));
    await scanNext(
      { sql: database.sql, clock: new BusyClock(world.clock.now() + 1_000), log: silentLog },
      new AbortController().signal,
    );
    expect(await statusOf(project)).toBe("scanning");
    await world.upload(project, ["pkg:npm/lodash@1.0.1"]);
    expect(await statusOf(project)).toBe("pending");
    world.clock.advance(60_000);
    await world.scan();
    expect((await world.findings(project)).filter(({ present }) => present).map(({ version }) => version)).toEqual(["1.0.1"]);
    expect(await statusOf(project)).toBe("completed");
  }, 60_000);

  test("an advisory that is imported during a scan is matched before the scan is completed", async () => {
    await world.publish(lodash("CVE-1"));
    const project = await world.project("learned");
    await world.upload(project, versions(300));
    const clock = new BusyClock(world.clock.now() + 1_000);
    await scanNext({ sql: database.sql, clock, log: silentLog }, new AbortController().signal);
    await world.publish(lodash("CVE-0", {}, fixedIn("1.0.1")));
    while (await scanNext({ sql: database.sql, clock, log: silentLog }, new AbortController().signal));
    expect(await world.findingLines(project)).toContain("CVE-0 1.0.0 open");
    expect(await statusOf(project)).toBe("completed");
  }, 60_000);

  test("findings beyond a project's limit are left out and counted, and existing findings stay", async () => {
    await world.publish(lodash("CVE-1"));
    const project = await world.project("full");
    await world.upload(project, versions(3));
    await world.scan();
    const sbom = await world.upload(project, versions(10));
    const [asked] = await database.sql`SELECT scan_asked FROM projects WHERE id = ${project}`;
    const pass = { sbom, asked: String(asked?.["scan_asked"]), cursor: null, findings: 249_995, findingsLeftOut: 0, resolved: 0 };
    await database.sql`
      UPDATE projects SET scan_began_at = ${new Date(world.clock.now() + 1)},
        scan_pass = ${database.sql.json({ ...pass, unknown: 0, unknownLeftOut: 0 })} WHERE id = ${project}`;
    await world.scan();
    expect(await count(project)).toBe(5);
    expect((await world.findingLines(project)).every((line) => line.endsWith(" open"))).toBe(true);
    const [shown] = await database.sql`SELECT findings_left_out FROM projects WHERE id = ${project}`;
    expect(shown?.["findings_left_out"]).toBe(5);
  });
});
