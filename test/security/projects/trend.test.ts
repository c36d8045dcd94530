/** The trend of a project: what was live at the end of each day, computed from the recorded changes. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { triage } from "../../../src/security/findings/triage/triage.ts";
import { trendDays } from "../../../src/security/limits.ts";
import { trendOf } from "../../../src/security/projects/trend.ts";
import { databases, type TestDatabase } from "../../support/servers/databases.ts";
import { lodash, SecurityWorld } from "../../support/security/security-world.ts";

const dayMs = 86_400_000;

describe.each(databases)("the trend of a project on $name", ({ open }) => {
  let database: TestDatabase;
  let world: SecurityWorld;
  beforeAll(async () => {
    database = await open();
    world = await SecurityWorld.open(database);
  }, 60_000);
  afterAll(() => database[Symbol.asyncDispose]());
  beforeEach(() => world.clear());

  const trend = (project: string) => trendOf({ project, nowMs: world.clock.now() }, database.sql);
  /** All severities together, of the newest days. */
  const totals = async (project: string, days: number) =>
    (await trend(project))
      .slice(-days)
      .map(({ critical, high, medium, low, unknown }) => critical + high + medium + low + unknown);

  const decide = async (project: string, status: "ignored" | "open") => {
    const [row] = await database.sql<{ id: string }[]>`
      SELECT findings.id FROM findings JOIN vulnerabilities ON vulnerabilities.id = vulnerability_id
      WHERE project_id = ${project} AND name = 'CVE-1'`;
    const workspace = world.workspace;
    await triage(
      { actor: { kind: "operator" }, workspace, decided: { finding: row?.id ?? "", status } },
      { sql: database.sql, clock: world.clock },
    );
  };

  test("has one row a day, today last, and zeros before the project had findings", async () => {
    const project = await world.project("shop");
    const days = await trend(project);
    expect(days).toHaveLength(trendDays);
    expect(days.at(-1)).toEqual({
      day: new Date(world.clock.now()).toISOString().slice(0, 10),
      critical: 0,
      high: 0,
      medium: 0,
      low: 0,
      unknown: 0,
    });
  });

  test("counts a finding from the day it was found, not while it is ignored, and no more once its component is gone", async () => {
    const project = await world.project("shop");
    await world.publish(lodash("CVE-1"), lodash("CVE-2"));
    await world.upload(project, ["pkg:npm/lodash@4.0.0"]);
    await world.scan();
    expect(await totals(project, 2)).toEqual([0, 2]);
    world.clock.advance(dayMs);
    await decide(project, "ignored");
    world.clock.advance(dayMs);
    await decide(project, "open");
    world.clock.advance(dayMs);
    await world.upload(project, ["pkg:npm/other@1.0.0"]);
    await world.scan();
    world.clock.advance(dayMs);
    expect(await totals(project, 6)).toEqual([0, 2, 1, 2, 0, 0]);
    world.clock.advance(trendDays * dayMs);
    expect((await totals(project, trendDays)).every((findings) => findings === 0)).toBe(true);
  });
});
