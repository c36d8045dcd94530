/** Compares pages of findings and vulnerabilities with plain counting and sorting. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { countVulnerabilities } from "../../../../src/security/findings/lists/list-rows.ts";
import { ecosystemNames } from "../../../../src/security/findings/schema.ts";
import { databases } from "../../../support/servers/databases.ts";
import { ListWorld, statuses, type NewFinding } from "../../../support/security/list-world.ts";
import { randomFrom } from "../../../support/random.ts";
import { toolsStage, type ToolsStage } from "../../../support/security/tools-api.ts";

const ecosystems = ["npm", "PyPI", "Maven", "Go", "crates.io", "RubyGems", "NuGet"] as const;
const ranks = [0, 7, 325, 1021, 2050, 2053, 3075, 3088, 4098] as const;
const severityFrom = {
  all: [0, 9_999],
  critical: [4_000, 4_999],
  high: [3_000, 3_999],
  medium: [2_000, 2_999],
  low: [1_000, 1_999],
};
const words = { ...Object.fromEntries(statuses.map((one) => [one, one])), fixed: "resolved", suppressed: "ignored" };

describe.each(databases)("pages of lists on $name", ({ open, runsAll }) => {
  let stage: ToolsStage;
  let world: ListWorld;
  let workspace = "";
  let product = "";
  const projects: string[] = [];
  let sbom = "";

  beforeAll(async () => {
    stage = await toolsStage(open);
    world = new ListWorld(stage.database.sql);
    workspace = stage.workspace;
    const other = await stage.control.workspace("other");
    product = await world.product(workspace, "A");
    for (const n of [0, 1, 2]) projects.push(await world.project(workspace, `p${n}`, n === 1 ? product : null));
    const elsewhere = await world.project(other, "p");
    sbom = await world.sbom(workspace, projects[0] ?? "");
    const packages = await Promise.all(ecosystems.map((one, n) => world.package(one, `package${n}`)));
    const chance = randomFrom(7);
    const draw = <T>(list: readonly T[]): T => list[Math.floor(chance() * list.length)] as T;
    const vulnerabilities: bigint[] = [];
    for (let n = 0; n < 120; n++) {
      const name = n % 9 === 0 ? `GHSA-${"abcdefgh"[n % 8]}${n}` : `CVE-${2019 + (n % 5)}-${1_000 + n * 37}`;
      vulnerabilities.push(await world.vulnerability(name, { rank: draw(ranks) }));
    }
    for (let batch = 0; batch < 12; batch++) {
      const findings: NewFinding[] = Array.from({ length: 60 }, () => ({
        project: draw([...projects, projects[0] ?? "", elsewhere]),
        vulnerability: draw(vulnerabilities),
        package: draw(packages),
        version: draw(["1.0.0", "2.0.0"]),
        status: draw(["open", "open", "open", "in_progress", "resolved", "ignored"] as const),
        falsePositive: chance() < 0.1,
      }));
      await world.find(findings);
    }
    const [first = ""] = projects;
    const of = await stage.database.sql<
      { id: string }[]
    >`SELECT id FROM findings WHERE project_id = ${first} AND hashtext(id) % 3 <> 0`;
    await world.occur(
      sbom,
      of.map(({ id }) => id),
    );
  }, 60_000);
  afterAll(() => stage[Symbol.asyncDispose]());

  const scopeTo = (kind: string, id?: string) => stage.api.data("set_active_scope", { kind, ...(id !== undefined && { id }) });
  const place = fc.constantFrom("workspace", "product", "project", "sbom", "both");
  const paging = {
    limit: fc.integer({ min: 1, max: 200 }),
    severity: fc.constantFrom(...(Object.keys(severityFrom) as (keyof typeof severityFrom)[])),
  };

  async function walk(operation: string, plural: string, input: { limit: number }): Promise<[unknown[], number]> {
    const found: unknown[] = [];
    for (let offset = 0; ; offset += input.limit) {
      const data = await stage.api.data(operation, { ...input, offset });
      const rows = data[plural] as unknown[];
      found.push(...rows);
      expect(data).toMatchObject({ limit: input.limit, offset, has_more: offset + rows.length < Number(data["total"]) });
      expect(rows).toHaveLength(Math.min(input.limit, Number(data["total"]) - offset));
      if (data["has_more"] !== true) return [found, Number(data["total"])];
    }
  }

  test("the counts of a product and of projects are the totals of their lists", async () => {
    const ids = [product, ...projects];
    const counts = await countVulnerabilities(ids, stage.database.sql);
    for (const id of ids) {
      await scopeTo(id === product ? "product" : "project", id);
      for (const severity of ["critical", "high", "medium", "low", "all"] as const) {
        const { total } = await stage.api.data("list_vulnerabilities", { severity });
        expect(total).toBe(counts.get(id)?.[severity === "all" ? "total" : severity]);
      }
    }
    await scopeTo("workspace");
  });

  if (!runsAll) return;

  test("pages of findings have each row once, in order and with the total, for every filter and scope", async () => {
    const { sql } = stage.database;
    const status = fc.constantFrom("all", "false_positive", ...Object.keys(words));
    await fc.assert(
      fc.asyncProperty(fc.record({ place, status, ...paging }), async ({ place: where, status: word, limit, severity }) => {
        await sql`UPDATE api_keys SET scope_kind = ${where === "product" ? "product" : "workspace"},
          scope_id = ${where === "product" ? product : null}`;
        const ids = {
          ...((where === "project" || where === "both") && { project_id: projects[0] ?? "" }),
          ...((where === "sbom" || where === "both") && { sbom_id: sbom }),
        };
        const [lowest = 0, highest = 0] = severityFrom[severity];
        const expected = await sql<{ id: string }[]>`
          SELECT id FROM findings
          WHERE workspace_id = ${workspace} AND rank BETWEEN ${lowest} AND ${highest}
            AND ${where === "product" ? sql`product_id = ${product}` : sql`true`}
            AND ${"project_id" in ids ? sql`project_id = ${projects[0] ?? ""}` : sql`true`}
            AND ${"sbom_id" in ids ? sql`id IN (SELECT finding_id FROM finding_sboms WHERE sbom_id = ${sbom})` : sql`true`}
            AND ${word === "all" ? sql`true` : word === "false_positive" ? sql`false_positive` : sql`status = ${words[word as "fixed"]}`}
          ORDER BY rank DESC, id`;
        const [rows, total] = await walk("list_findings", "findings", {
          ...ids,
          limit: Math.max(limit, 20),
          severity,
          status: word,
        } as never);
        expect(rows.map((row) => (row as { id: string }).id)).toEqual(expected.map(({ id }) => id));
        expect(total).toBe(expected.length);
      }),
      { numRuns: 25 },
    );
  }, 60_000);

  test("pages of vulnerabilities have each one once, in order and with the total, for every filter and scope", async () => {
    const { sql } = stage.database;
    const filter = {
      scope: fc.constantFrom("workspace", "product", "project"),
      ecosystem: fc.constantFrom("all", ...ecosystemNames),
      least: fc.constantFrom(undefined, 0, 2.1, 5.25, 5.3, 7.5, 10),
    };
    await fc.assert(
      fc.asyncProperty(fc.record({ ...filter, ...paging }), async ({ scope, ecosystem, least, limit, severity }) => {
        const id = { workspace: null, product, project: projects[0] ?? "" }[scope];
        await sql`UPDATE api_keys SET scope_kind = ${scope}, scope_id = ${id}`;
        const [lowest = 0, highest = 0] = severityFrom[severity];
        const its = ecosystem === "all" ? null : (ecosystems[ecosystemNames.indexOf(ecosystem)] ?? null);
        const expected = await sql<{ name: string; findings: number; projects: number }[]>`
          SELECT vulnerabilities.name, count(*)::integer AS findings, count(DISTINCT project_id)::integer AS projects
          FROM findings JOIN vulnerabilities ON vulnerabilities.id = vulnerability_id JOIN packages ON packages.id = package_id
          WHERE workspace_id = ${workspace} AND ${id === null ? sql`true` : sql`${sql(`${scope}_id`)} = ${id}`} AND live
            AND findings.rank BETWEEN ${lowest} AND ${highest} AND CASE WHEN findings.rank < 1000 THEN 0 ELSE findings.rank % 1000 END >= ${least ?? 0}::numeric * 10
          GROUP BY vulnerabilities.name, findings.rank HAVING ${its === null ? sql`true` : sql`bool_or(ecosystem = ${its})`}
          ORDER BY findings.rank DESC, vulnerabilities.name`;
        const input = { limit: Math.max(limit, 20), severity, ecosystem, ...(least !== undefined && { cvss_min: least }) };
        const [rows, total] = await walk("list_vulnerabilities", "vulnerabilities", input);
        const seen = (rows as Record<string, unknown>[]).map((row) => ({
          name: row["cve_id"],
          findings: row["affected_components_count"],
          projects: row["affected_projects_count"],
        }));
        expect(seen).toEqual([...expected] as never);
        expect(total).toBe(expected.length);
        if (its !== null)
          expect(new Set((rows as Record<string, unknown>[]).map((row) => row["ecosystem"])).size).toBeLessThanOrEqual(1);
      }),
      { numRuns: 25 },
    );
    await scopeTo("workspace");
  }, 60_000);
});
