/** The sample data: loaded whole or not at all, scanned like any upload, and removed without a trace of it or a loss of anything else. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import pino from "pino";
import { scanNext } from "../../../src/security/findings/scan/scan-next.ts";
import { deleteProjects, lockSample } from "../../../src/security/projects/store.ts";
import { Lease, LeaseLostError } from "../../../src/security/scans/lease.ts";
import { newScanProgress } from "../../../src/security/scans/scan-progress.ts";
import { Control } from "../../support/control.ts";
import { failureOf } from "../../support/failure-of.ts";
import { bomJson } from "../../support/security/sbom-documents.ts";
import { lodash, SecurityWorld } from "../../support/security/security-world.ts";
import { oneDatabase, type TestDatabase } from "../../support/servers/databases.ts";
import { until } from "../../support/until.ts";

const names = ["sample-forecasts", "sample-payments", "sample-web-shop"];
const named = names.map((name) => ({ id: expect.stringMatching(/^prj_/), name }));
const inW = { body: { workspace: "w" } };

describe.each(oneDatabase)("the sample data on $name", ({ name, open }) => {
  let database: TestDatabase;
  let control: Control;
  let world: SecurityWorld;
  beforeAll(async () => {
    database = await open();
    control = new Control(database.sql);
    world = new SecurityWorld({ sql: database.sql, clock: control.clock, workspace: await control.workspace("w") });
    await control.workspace("other");
  }, 60_000);
  afterAll(() => database[Symbol.asyncDispose]());

  const show = () => control.expect("GET", "/sample?workspace=w");
  const load = () => control.expect("POST", "/sample", inW);
  const remove = () => control.expect("DELETE", "/sample?workspace=w");
  const upload = (project: string) =>
    control.call("POST", `/sboms?workspace=w&project=${project}`, { body: JSON.stringify(bomJson("1.6")) });
  const idOf = async (project: string) =>
    String(
      (await database.sql`SELECT id FROM projects WHERE workspace_id = ${world.workspace} AND name = ${project}`)[0]?.["id"],
    );

  test("whoever may write loads and removes it, and no one in another workspace", async () => {
    for (const as of ["member@w", "admin@w", "super_admin@w"]) {
      expect(await control.expect("POST", "/sample", { ...inW, as })).toEqual({ changed: true, projects: named });
      expect(await control.expect("DELETE", "/sample?workspace=w", { as })).toEqual({ removed: expect.arrayContaining(named) });
    }
    expect(await load()).toEqual({ changed: true, projects: named });
    for (const [as, refusal] of [
      ["auditor@w", "403 forbidden"],
      ["super_admin@other", "403 forbidden X-Act-As"],
    ] as const) {
      expect(await control.refusal("POST", "/sample", { ...inW, as })).toStartWith(refusal);
      expect(await control.refusal("DELETE", "/sample?workspace=w", { as })).toStartWith(refusal);
    }
    expect(await control.expect("DELETE", "/sample?workspace=other", { as: "member@other" })).toEqual({ removed: [] });
    expect(await control.expect("GET", "/sample?workspace=w", { as: "auditor@w" })).toEqual({
      projects: named,
      own_projects: false,
    });
    expect(await control.refusal("GET", "/sample?workspace=w", { as: "super_admin@other" })).toStartWith(
      "403 forbidden X-Act-As",
    );
    await remove();
  });

  test("loading it again changes nothing and says so", async () => {
    const first = await load();
    const before = await database.sql`SELECT id, sbom_id, scan_asked FROM projects ORDER BY id`;
    const audits = await database.sql`SELECT count(*) FROM audit_events`;
    expect(await load()).toEqual({ ...first, changed: false });
    expect([...(await database.sql`SELECT id, sbom_id, scan_asked FROM projects ORDER BY id`)]).toEqual([...before]);
    expect([...(await database.sql`SELECT count(*) FROM audit_events`)]).toEqual([...audits]);
    const checklist = await control.expect("GET", "/checklist?workspace=w");
    expect(checklist["sbom"]).toBe(false);
    await remove();
  });

  test("its removal leaves no row of it, the other projects as they are, and one audit row for each project", async () => {
    await world.publish(lodash("CVE-1"));
    const own = await world.project("own");
    await world.upload(own, ["pkg:npm/lodash@4.17.20"]);
    const tablesOf = async (scopes: string[]) => {
      const counts = Object.entries({
        projects: "id",
        sboms: "project_id",
        findings: "project_id",
        finding_events: "project_id",
        triages: "project_id",
        unknown_matches: "project_id",
        finding_buckets: "scope_id",
        scope_vulnerabilities: "scope_id",
        vulnerability_buckets: "scope_id",
      }).map(async ([table, column]) => {
        const rows = await database.sql`SELECT FROM ${database.sql(table)} WHERE ${database.sql(column)} = ANY (${scopes})`;
        return [table, rows.length];
      });
      return Object.fromEntries(await Promise.all(counts)) as Record<string, number>;
    };
    const scopes = () => database.sql`
      SELECT * FROM finding_buckets WHERE scope_id IN (${world.workspace}, ${own}) ORDER BY scope_id, depth, rank, slice, status`;
    await world.scan();
    const alone = { own: await tablesOf([own, world.workspace]), scopes: [...(await scopes())] };
    await load();
    await world.scan();
    const shop = await idOf("sample-web-shop");
    expect(await world.findingLines(shop)).toEqual(["CVE-1 4.17.20 open"]);
    const [finding] = await control.list("/findings?workspace=w&project=sample-web-shop");
    const decision = { workspace: "w", findings: [String(finding?.["id"])], status: "ignored", note: "No" };
    await control.expect("PATCH", "/findings", { body: decision });
    const key = await control.key("w", { kind: "tools" });
    await database.sql`UPDATE api_keys SET scope_kind = 'project', scope_id = ${shop} WHERE id = ${key.id}`;
    const ids = (await database.sql`SELECT id FROM projects WHERE provider = 'sample'`).map(({ id }) => String(id));
    expect((await tablesOf(ids))["triages"]).toBe(1);

    const { removed } = await remove();
    expect(removed).toEqual(expect.arrayContaining(named));
    expect(Object.values(await tablesOf(ids)).filter((count) => count > 0)).toEqual([]);
    expect({ own: await tablesOf([own, world.workspace]), scopes: [...(await scopes())] }).toEqual(alone);
    expect(await world.findingLines(own)).toEqual(["CVE-1 4.17.20 open"]);
    const events = await database.sql`
      SELECT changes FROM audit_events WHERE event = 'project.removed' AND target = ANY (${ids}) ORDER BY changes::text`;
    expect(events.map(({ changes }) => changes)).toEqual(names.map((name) => ({ name: { from: name, to: null } })));
    expect([...(await database.sql`SELECT scope_kind, scope_id FROM api_keys WHERE id = ${key.id}`)]).toEqual([
      { scope_kind: "workspace", scope_id: null },
    ]);
    expect(await show()).toEqual({ projects: [], own_projects: true });
    expect(await remove()).toEqual({ removed: [] });
  });

  test("a project of the workspace's own with one of its names keeps it from loading, and nothing is half done", async () => {
    expect((await upload("sample-payments")).status).toBe(201);
    const { status, body } = await control.call("POST", "/sample", inW);
    expect([status, body]).toMatchObject([
      409,
      { error: { code: "conflict", message: expect.stringContaining('"sample-payments"') } },
    ]);
    expect(await show()).toEqual({ projects: [], own_projects: true });
    await database.sql`UPDATE projects SET name = 'payments' WHERE name = 'sample-payments'`;
  });

  test("its projects take no upload of one's own", async () => {
    await load();
    for (const project of ["sample-payments", await idOf("sample-payments")]) {
      const { status, body } = await upload(project);
      expect([status, body]).toMatchObject([
        409,
        { error: { code: "conflict", message: expect.stringContaining("remove the sample data, or choose another name") } },
      ]);
    }
    await remove();
    expect((await upload("sample-payments")).status).toBe(201);
    await database.sql`UPDATE projects SET name = 'payments-2' WHERE name = 'sample-payments'`;
  });

  test("a scan of a project that is removed meanwhile ends quietly", async () => {
    await world.scan();
    await load();
    const lease = await Lease.take({ sql: database.sql, clock: control.clock });
    if (lease === null) throw new Error("No scan waits");
    await lease.beginOrResume();
    await remove();
    expect(await failureOf(lease.hold(async () => {}))).toBeInstanceOf(LeaseLostError);
    const ended = lease.complete(newScanProgress({ sbom: null, asked: 1n }), async () => {});
    expect(await failureOf(ended)).toBeInstanceOf(LeaseLostError);
    const logged: string[] = [];
    const log = pino({}, { write: (line: string) => void logged.push(line) });
    expect(await scanNext({ sql: database.sql, clock: control.clock, log }, new AbortController().signal)).toBe(false);
    expect(logged).toEqual([]);
  });

  // The embedded database has one connection, so that nothing waits within a transaction.
  test.skipIf(name !== "PostgreSQL")(
    "an upload that waits for the removal of a project of its name makes a new one",
    async () => {
      await load();
      const { uploading } = await database.sql.begin(async (tx) => {
        const sample = await lockSample(world.workspace, tx);
        const waiting = upload("sample-payments");
        await until(async () => {
          const rows = await tx`SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
          return rows.length > 0;
        });
        await deleteProjects(
          sample.map(({ id }) => id),
          tx,
        );
        return { uploading: waiting };
      });
      expect((await uploading).status).toBe(201);
      expect(await show()).toEqual({ projects: [], own_projects: true });
    },
  );
});
