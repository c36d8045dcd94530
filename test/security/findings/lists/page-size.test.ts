/** The size of pages: a page over HTTP has all of its rows, and one over MCP says where it ends. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { purlCharactersMax } from "../../../../src/security/limits.ts";
import { oneDatabase } from "../../../support/servers/databases.ts";
import { ListWorld } from "../../../support/security/list-world.ts";
import { toolsStage, type ToolsStage } from "../../../support/security/tools-api.ts";

type Row = Record<string, unknown>;

describe.each(oneDatabase)("a page of two hundred rows on $name", ({ open }) => {
  let stage: ToolsStage;
  const issueCount = 200;
  const bytesMax = { list_findings: 125_000, list_vulnerabilities: 96_000 };
  const plurals = { list_findings: "findings", list_vulnerabilities: "vulnerabilities" } as const;
  let ids: string[] = [];
  const purl = (n: number) => `pkg:golang/golang.org/x/text${n}@v0.3.5-0.20201125200606-c27b9fd57aec`;

  beforeAll(async () => {
    stage = await toolsStage(open);
    const world = new ListWorld(stage.database.sql);
    const npm = await world.package("npm", "lodash");
    const crowded = await world.project(stage.workspace, "crowded");
    const issues = await Promise.all(
      Array.from({ length: issueCount }, (_, n) =>
        world.vulnerability(`CVE-2026-${10_000 + n}`, { rank: 4098, description: '"日本\u{1f600}'.repeat(32) }),
      ),
    );
    ids = await world.find(issues.map((vulnerability) => ({ project: crowded, package: npm, version: "1.0.0", vulnerability })));
    await stage.api.data("set_active_scope", { kind: "project", id: crowded });
  }, 60_000);
  afterAll(() => stage[Symbol.asyncDispose]());

  const fill = async (evidence: object, nameOf: (n: number) => string) => {
    const { sql } = stage.database;
    const given = ids.map((id, n) => ({
      id,
      purl: (purl(n) + nameOf(n)).slice(0, purlCharactersMax),
      component: `golang.org/x/text${n}${nameOf(n)}`,
    }));
    await sql`
      UPDATE findings SET component = given.component, purl = given.purl, version = 'v0.3.5-0.20201125200606-c27b9fd57aec',
        evidence = ${sql.json(evidence as never)}
      FROM jsonb_to_recordset(${sql.json(given as never)}) AS given (id text, purl text, component text) WHERE findings.id = given.id`;
  };
  const viewOf = (operation: keyof typeof bytesMax, body: Row) => {
    const data = body["data"] as Row;
    return { data, rows: data[plurals[operation]] as Row[], message: String(body["message"]), bytes: jsonBytes(body) };
  };
  const ask = async (operation: keyof typeof bytesMax, { limit = 200, offset = 0 } = {}) =>
    viewOf(operation, (await stage.api.call(operation, { limit, offset })).body);
  const askMcp = async (operation: keyof typeof bytesMax, { limit = 200, offset = 0 } = {}) =>
    viewOf(operation, await stage.api.tool(operation, { limit, offset }));
  const wholeNames = (rows: Row[], nameOf: (n: number) => string) =>
    rows.every(({ purl: own, component, component_version: version }) => {
      const n = /text(\d+)/.exec(String(component))?.[1];
      return (
        own === purl(Number(n)) + nameOf(Number(n)) &&
        component === `golang.org/x/text${n}${nameOf(Number(n))}` &&
        String(version).endsWith("c27b9fd57aec")
      );
    });

  test("cuts descriptive texts to its size, and never names, versions or package URLs", async () => {
    await fill(
      { source: "GO-2021-0113", range: "introduced 0, fixed 0.3.7, ".repeat(20), comparator: ">= 0, < 0.3.7" },
      () => "",
    );
    const found = await ask("list_findings");
    expect(found.bytes).toBeLessThan(bytesMax.list_findings);
    expect(found.data).toMatchObject({ total: 200, limit: 200, has_more: false });
    expect(found.rows).toHaveLength(200);
    expect(wholeNames(found.rows, () => "")).toBe(true);
    expect(found.message).toBe("200 of 200 findings. Long texts are cut: they end with …");
    expect(found.rows[0]).toMatchObject({ evidence: { range: expect.stringMatching(/^introduced 0.*…$/) } });
    const listed = await ask("list_vulnerabilities");
    expect(listed.bytes).toBeLessThan(bytesMax.list_vulnerabilities);
    expect(listed.message).toBe("200 of 200 vulnerabilities. Long texts are cut: they end with …");
    expect(
      listed.rows.every(({ affected_component: one }) => String(one).endsWith("@v0.3.5-0.20201125200606-c27b9fd57aec")),
    ).toBe(true);
  });

  test("of ordinary names of Go modules has its rows and its size", async () => {
    const { sql } = stage.database;
    await sql`
      UPDATE findings SET version = 'v1.25.0', evidence = ${sql.json(goEvidence as never)},
        component = 'github.com/organization/project-' || given.n || given.rest, purl = 'pkg:golang/github.com/organization/project-' ||
          given.n || given.rest || '@v1.25.0?goos=linux&type=module'
      FROM (SELECT id, n, CASE WHEN n % 4 = 0 THEN '/internal/pkg/' || repeat('part', 8) || n ELSE '' END AS rest
        FROM unnest(${ids}::text[]) WITH ORDINALITY AS one (id, n)) AS given WHERE findings.id = given.id`;
    const found = await ask("list_findings");
    expect(found.rows).toHaveLength(200);
    expect(found.bytes).toBeLessThan(bytesMax.list_findings);
    expect(new Set(found.rows.map((row) => row["component"])).size).toBe(200);
    expect(found.rows.every(({ purl: own }) => String(own).endsWith("?goos=linux&type=module"))).toBe(true);
  });

  test.each([
    ["names of 80 letters", (n: number) => `${"m".repeat(70)}/${n}`],
    ["names of 300 characters of three bytes", (n: number) => `/${"日本".repeat(150)}${n}`],
    ["names of 65,000 letters", (n: number) => `${n}${"x".repeat(65_000)}`],
  ])("has as many rows as its limit while there are more, whatever %s need", async (_, nameOf) => {
    await fill({ source: "GO-2021-0113", range: "introduced 0" }, nameOf);
    for (const operation of ["list_findings", "list_vulnerabilities"] as const) {
      for (const limit of [7, 60, 199, 200]) {
        const seen: unknown[] = [];
        for (let offset = 0; offset < issueCount; offset += limit) {
          const { data, rows, bytes } = await ask(operation, { limit, offset });
          const isLast = offset + limit >= issueCount;
          expect(rows).toHaveLength(isLast ? issueCount - offset : limit);
          expect(data).toEqual({ [plurals[operation]]: rows, total: issueCount, limit, offset, has_more: !isLast });
          expect(bytes).toBeLessThan(500_000);
          seen.push(...rows.map((row) => row["id"] ?? row["cve_id"]));
        }
        expect([seen.length, new Set(seen).size]).toEqual([issueCount, issueCount]);
      }
    }
  });

  test("is shorter over MCP when long names fill it, and says where the next one begins", async () => {
    const nameOf = (n: number) => `/${"日本".repeat(150)}${n}`;
    await fill({ source: "GO-2021-0113", range: "introduced 0" }, nameOf);
    for (const operation of ["list_findings", "list_vulnerabilities"] as const) {
      const seen = new Set<unknown>();
      let pages = 0;
      for (let offset: number | undefined = 0; offset !== undefined; pages++) {
        const { data, rows, message: text, bytes } = await askMcp(operation, { offset });
        expect(bytes).toBeLessThan(bytesMax[operation]);
        for (const row of rows) seen.add(row["id"] ?? row["cve_id"]);
        const next: number = offset + rows.length;
        const isLast = next === issueCount;
        expect(data).toMatchObject({ total: issueCount, limit: 200, offset, has_more: !isLast });
        expect(data["next_offset"]).toBe(isLast ? undefined : next);
        if (!isLast) expect(text).toContain(`the next page begins at the offset ${next}`);
        if (operation === "list_findings") expect(wholeNames(rows, nameOf)).toBe(true);
        offset = isLast ? undefined : next;
      }
      expect([seen.size, pages > 1]).toEqual([issueCount, true]);
    }
  });
});

const goEvidence = {
  source: "GO-2021-0113",
  range: "introduced 0, fixed 0.3.7",
  comparator: ">= 0, < 0.3.7",
  listed: null,
};

function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
