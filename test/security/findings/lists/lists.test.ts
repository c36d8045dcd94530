/** The responses of list_findings and list_vulnerabilities: rows, filters, messages, refusals and sizes. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { databases } from "../../../support/servers/databases.ts";
import { ListWorld } from "../../../support/security/list-world.ts";
import { toolsStage, type ToolsStage } from "../../../support/security/tools-api.ts";

type Row = Record<string, unknown>;

describe.each(databases)("lists on $name", ({ open, runsAll }) => {
  let stage: ToolsStage;
  let world: ListWorld;
  let workspace = "";
  let project = "";
  let other = { project: "", sbom: "" };
  let npm = 0n;
  const sboms: string[] = [];

  beforeAll(async () => {
    stage = await toolsStage(open);
    world = new ListWorld(stage.database.sql);
    workspace = stage.workspace;
    project = await world.project(workspace, "shop");
    for (let n = 0; n < 3; n++) sboms.push(await world.sbom(workspace, project));
    const elsewhere = await stage.control.workspace("other");
    other = { project: await world.project(elsewhere, "shop"), sbom: "" };
    other.sbom = await world.sbom(elsewhere, other.project);
    npm = await world.package("npm", "lodash");
    const bad = await world.vulnerability("CVE-2021-23337", { rank: 3072, score: 7.2, description: "Command injection" });
    const unscored = await world.vulnerability("GHSA-aaaa-bbbb-cccc", { rank: 0 });
    const zero = await world.vulnerability("CVE-2020-1", { rank: 0, score: 0 });
    const of = { project, package: npm, version: "4.17.20" };
    const [id = ""] = await world.find([{ ...of, vulnerability: bad }]);
    await world.find([
      { ...of, vulnerability: unscored, status: "ignored" },
      { ...of, vulnerability: zero, falsePositive: true },
    ]);
    for (const sbom of sboms) await world.occur(sbom, [id]);
  }, 60_000);
  afterAll(() => stage[Symbol.asyncDispose]());

  const findings = async (input: object = {}) => (await stage.api.data("list_findings", input))["findings"] as Row[];
  const message = async (operation: string, input: object) => String((await stage.api.call(operation, input)).body["message"]);

  test("a finding's row has the vulnerability, the component, the fix, the times and the evidence", async () => {
    expect((await findings())[0]).toEqual({
      id: expect.stringMatching(/^fnd_[2-7a-z]{26}$/),
      cve_id: "CVE-2021-23337",
      severity: "high",
      cvss_score: 7.2,
      status: "open",
      false_positive: false,
      component: "lodash",
      component_version: "4.17.20",
      ecosystem: "npm",
      purl: "pkg:test/lodash@4.17.20",
      fix_version: "9.9.9",
      project_id: project,
      project: "shop",
      sbom_ids: [sboms[2], sboms[1]],
      first_seen: "2026-11-20T00:00:00.000Z",
      last_seen: "2026-11-20T00:00:00.000Z",
      evidence: { source: "GHSA-1", range: "introduced 0, fixed 9.9.9", comparator: ">= 0, < 9.9.9", listed: null },
    });
  });

  if (!runsAll) return;

  test("a vulnerability's row has its first live finding, a short description and counts; one without live findings is not listed", async () => {
    expect(await stage.api.data("list_vulnerabilities")).toEqual({
      vulnerabilities: [
        {
          cve_id: "CVE-2021-23337",
          severity: "high",
          cvss_score: 7.2,
          affected_component: "lodash@4.17.20",
          affected_project: "shop",
          fix_version: "9.9.9",
          description: "Command injection",
          ecosystem: "npm",
          affected_components_count: 1,
          affected_projects_count: 1,
        },
      ],
      total: 1,
      limit: 25,
      offset: 0,
      has_more: false,
    });
  });

  test("findings without a severity come last and only under the severity all, and a score of zero differs from no score", async () => {
    const rows = await findings();
    const shown = rows.map(({ cve_id: id, severity, cvss_score: score }) => [id, severity, score]).slice(1);
    expect(shown.toSorted()).toEqual([
      ["CVE-2020-1", null, 0],
      ["GHSA-aaaa-bbbb-cccc", null, null],
    ]);
    for (const severity of ["critical", "medium", "low"]) expect(await findings({ severity })).toEqual([]);
    expect(await findings({ severity: "high" })).toHaveLength(1);
  });

  test("the message of an empty list advises the status all", async () => {
    expect(await message("list_findings", { status: "fixed" })).toBe(
      '0 of 0 findings. None has the status "fixed": ask again with the status "all"',
    );
    expect(await message("list_findings", { offset: 7 })).toBe("0 of 3 findings. The offset 7 is beyond the last row");
    expect(await message("list_findings", { severity: "low" })).toBe("0 of 0 findings");
  });

  test("the message of a filter by ecosystem counts those without an ecosystem", async () => {
    expect(await message("list_vulnerabilities", { ecosystem: "npm" })).toBe(
      "1 of 1 vulnerabilities. 0 more carry no ecosystem and are left out by this filter",
    );
    expect(await message("list_vulnerabilities", { ecosystem: "go" })).toContain('Ask again with severity and ecosystem "all"');
  });

  test("each page is one snapshot: a row that moves up between two pages makes another row appear twice, and totals stay exact", async () => {
    const walked = await world.project(workspace, "walked");
    const ranks = [2050, 2040, 2030];
    const issues = await Promise.all(ranks.map((rank, n) => world.vulnerability(`CVE-2027-${n}000`, { rank })));
    const found = [];
    for (const vulnerability of issues)
      found.push(...(await world.find([{ project: walked, package: npm, version: "1", vulnerability }])));
    const page = (offset: number) => stage.api.data("list_findings", { project_id: walked, limit: 2, offset });
    expect(await page(0)).toMatchObject({ total: 3, has_more: true, findings: [{ id: found[0] }, { id: found[1] }] });
    await stage.database.sql`UPDATE findings SET rank = 3098 WHERE id = ${found[2] ?? ""}`;
    expect(await page(2)).toMatchObject({ total: 3, has_more: false, findings: [{ id: found[1] }] });
    expect(await page(0)).toMatchObject({
      findings: [{ id: found[2], severity: "high", cvss_score: 9.8 }, { id: found[0] }],
    });
  });
});
