/** A setting limits the former SBOMs of a project. The current SBOM and decisions of people always stay. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { silentLog } from "../../../src/kernel/log.ts";
import { formerSbomRowsMax, formerSbomsEveryMs } from "../../../src/security/limits.ts";
import { markFormer, removeSomeFormer } from "../../../src/security/projects/former-sboms.ts";
import { startFormerSboms } from "../../../workers/scanner.ts";
import { oneDatabase, type TestDatabase } from "../../support/servers/databases.ts";
import { lodash, SecurityWorld } from "../../support/security/security-world.ts";
import { until } from "../../support/until.ts";

describe.each(oneDatabase)("former SBOMs on $name", ({ open }) => {
  let database: TestDatabase;
  let world: SecurityWorld;
  beforeAll(async () => {
    database = await open();
    world = await SecurityWorld.open(database);
  }, 60_000);
  afterAll(() => database[Symbol.asyncDispose]());
  beforeEach(() => world.clear());
  const upload = async (project: string, version: string) => {
    world.clock.advance(1_000);
    return world.upload(project, [`pkg:npm/lodash@${version}`]);
  };
  const ids = async (project: string) =>
    (await database.sql`SELECT id FROM sboms WHERE project_id = ${project} AND NOT removing ORDER BY created_at`).map(({ id }) =>
      String(id),
    );
  const removeAll = async () => {
    while (await removeSomeFormer(database.sql));
  };

  test("the newest ones stay up to the limit; a removed one keeps its findings and adds one audit row", async () => {
    await world.publish(lodash("CVE-1"));
    const project = await world.project("shop");
    const first = await upload(project, "4.0.0");
    await world.scan();
    const others = [await upload(project, "4.0.1"), await upload(project, "4.0.2"), await upload(project, "4.0.3")];
    await world.scan();
    expect(await markFormer(3, { sql: database.sql, clock: world.clock })).toBe(1);
    expect(await markFormer(3, { sql: database.sql, clock: world.clock })).toBe(0);
    expect(await ids(project)).toEqual(others);
    await removeAll();
    for (const table of ["sbom_components", "finding_sboms"]) {
      expect(await database.sql`SELECT FROM ${database.sql(table)} WHERE sbom_id = ${first}`).toHaveLength(0);
    }
    expect(await world.findingLines(project)).toEqual(["CVE-1 4.0.0 resolved gone", "CVE-1 4.0.3 open"]);
    const audits = await database.sql`SELECT target, changes FROM audit_events WHERE event = 'project.sbom.removed'`;
    expect(audits.map((row) => ({ ...row }))).toEqual([{ target: project, changes: { sbom_id: { from: first, to: null } } }]);
  });

  test("the current SBOM stays, however old it is", async () => {
    const project = await world.project("old");
    const old = await upload(project, "1.0.0");
    const newer = [await upload(project, "1.0.1"), await upload(project, "1.0.2")];
    await database.sql`UPDATE projects SET sbom_id = ${old} WHERE id = ${project}`;
    await markFormer(1, { sql: database.sql, clock: world.clock });
    expect(await ids(project)).toEqual([old]);
    await removeAll();
    expect(await database.sql`SELECT FROM sboms WHERE id = ANY (${newer})`).toHaveLength(0);
  });

  test("the worker removes an SBOM in steps, without a request", async () => {
    const project = await world.project("large");
    const count = formerSbomRowsMax * 2 + 1;
    await world.upload(
      project,
      Array.from({ length: count }, (_, index) => `pkg:npm/package-${index}@1.0.0`),
    );
    await upload(project, "1.0.0");
    await markFormer(1, { sql: database.sql, clock: world.clock });
    await removeSomeFormer(database.sql);
    const left = async () => Number((await database.sql`SELECT count(*)::integer AS count FROM sbom_components`)[0]?.["count"]);
    expect(await left()).toBe(count + 1 - formerSbomRowsMax);
    await using _keeper = startFormerSboms({ sql: database.sql, clock: world.clock, log: silentLog, sbomsKept: 1 });
    await until(async () => {
      world.clock.advance(formerSbomsEveryMs);
      return (await left()) === 1;
    });
    expect(await ids(project)).toHaveLength(1);
  });
});
