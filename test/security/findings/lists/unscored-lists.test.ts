/** Lists of findings without a severity: their order, and the constant cost of a page. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { scanFindingsMax } from "../../../../src/security/limits.ts";
import { ManualClock } from "../../../support/clock.ts";
import { databases } from "../../../support/servers/databases.ts";
import { listDifferences } from "../../../support/security/list-world.ts";
import { fixedIn, SecurityWorld } from "../../../support/security/security-world.ts";
import { toolsStage, type ToolsStage } from "../../../support/security/tools-api.ts";

/** A clock that moves by a millisecond with each reading. */
class TickingClock extends ManualClock {
  override now(): number {
    this.advance(1);
    return super.now();
  }
}

describe.each(databases)("lists of findings without a severity on $name", ({ open, runsAll }) => {
  let stage: ToolsStage;
  let world: SecurityWorld;
  beforeAll(async () => {
    stage = await toolsStage(open);
    world = new SecurityWorld({ sql: stage.database.sql, clock: new TickingClock(), workspace: stage.workspace });
  }, 60_000);
  afterAll(() => stage[Symbol.asyncDispose]());
  beforeEach(() => world.clear());

  const named = async (operation: string, plural: string, input: object = {}) =>
    ((await stage.api.data(operation, input))[plural] as { cve_id: string }[]).map(({ cve_id: id }) => id);

  test("the newest come first, by the month of publication, which is not shown as a score", async () => {
    const project = await world.project("shop");
    const affected = [{ ecosystem: "Go" as const, name: "example.org/a", ranges: fixedIn("2.0.0") }];
    await world.publish(
      { id: "GO-2020-0001", affected, published: "2020-05-30T00:00:00Z" },
      { id: "GO-2020-0002", affected },
      { id: "GO-2020-0003", affected, published: "2026-02-01T00:00:00Z" },
      { id: "GO-2020-0004", affected, published: "1980-01-01T00:00:00Z" },
      { id: "GO-2020-0005", affected, published: "2020-06-01T00:00:00Z", aliases: ["CVE-2020-0005"] },
      // The first publication of a group counts, not later ones.
      { id: "GHSA-aaaa-bbbb-cccc", affected, published: "2026-03-01T00:00:00Z", aliases: ["CVE-2020-0005"] },
    );
    await world.upload(project, ["pkg:golang/example.org/a@v1.0.0"]);
    await world.scan();
    const expected = ["GO-2020-0003", "CVE-2020-0005", "GO-2020-0001", "GO-2020-0004", "GO-2020-0002"];
    expect(await named("list_findings", "findings")).toEqual(expected);
    expect(await named("list_vulnerabilities", "vulnerabilities")).toEqual(expected);
    expect((await stage.api.data("list_findings", { limit: 1 }))["findings"]).toMatchObject([
      { severity: null, cvss_score: null },
    ]);
    expect(await named("list_vulnerabilities", "vulnerabilities", { cvss_min: 0.1 })).toEqual([]);
    expect(await named("list_findings", "findings", { severity: "low" })).toEqual([]);
    expect(await listDifferences(world.sql)).toEqual([]);
  });

  test("malware comes first with its basis, and a severity in a word after those with a score", async () => {
    const project = await world.project("rated");
    const affected = [{ ecosystem: "Go" as const, name: "example.org/a", ranges: fixedIn("2.0.0") }];
    await world.publish(
      { id: "GHSA-aaaa-bbbb-cccc", affected, specific: { severity: "MODERATE" } },
      { id: "MAL-2026-1", affected },
      { id: "GO-2020-0009", affected },
    );
    await world.upload(project, ["pkg:golang/example.org/a@v1.0.0"]);
    await world.scan();
    const { findings } = await stage.api.data("list_findings", {});
    const basisOf = ({ cve_id: id, severity, ...row }: Record<string, unknown>) => [id, severity, row["severity_basis"]];
    expect((findings as Record<string, unknown>[]).map(basisOf)).toEqual([
      ["MAL-2026-1", "critical", "malware"],
      ["GHSA-aaaa-bbbb-cccc", "medium", "word"],
      ["GO-2020-0009", null, undefined],
    ]);
    expect(await named("list_vulnerabilities", "vulnerabilities", { severity: "critical" })).toEqual(["MAL-2026-1"]);
    expect(await stage.api.data("get_vulnerability", { cve_id: "MAL-2026-1" })).toMatchObject({
      severity: "critical",
      severity_source: "MAL-2026-1",
      severity_basis: "malware",
    });
    expect(await listDifferences(world.sql)).toEqual([]);
  });

  if (!runsAll) return;

  test("a page is found within one batch of a scan, however many findings the scan wrote at the same time", async () => {
    const count = 3 * scanFindingsMax;
    const names = Array.from({ length: count }, (_, n) => `example.org/module${n}`);
    const project = await world.project("large");
    await world.publish({
      id: "GO-2026-0001",
      affected: names.map((name) => ({ ecosystem: "Go" as const, name, ranges: fixedIn("2.0.0") })),
    });
    await world.upload(
      project,
      names.map((name) => `pkg:golang/${name}@v1.0.0`),
    );
    await world.scan();
    const [widest] = await world.sql<{ findings: number }[]>`
      SELECT max(amount)::integer AS findings FROM finding_buckets
      WHERE scope_id = ${project} AND depth = (SELECT max(depth) FROM finding_buckets)`;
    expect(widest?.findings).toBeLessThanOrEqual(scanFindingsMax);
    const ids = await world.sql<{ id: string }[]>`SELECT id FROM findings WHERE project_id = ${project} ORDER BY id`;
    const { findings, total } = await stage.api.data("list_findings", { project_id: project, limit: 50, offset: 1_234 });
    expect([total, (findings as { id: string }[]).map(({ id }) => id)]).toEqual([
      count,
      ids.slice(1_234, 1_284).map(({ id }) => id),
    ]);
    // A scan of so many takes long on a busy machine.
  }, 120_000);
});
