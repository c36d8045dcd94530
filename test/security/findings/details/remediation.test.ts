/** Upgrades for findings, as a client with a tools key sees them. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { pathNameCharactersMax } from "../../../../src/security/limits.ts";
import { objectOf } from "../../../support/control.ts";
import { fixedIn, lodash, SecurityWorld } from "../../../support/security/security-world.ts";
import { toolsStage, type ToolsStage } from "../../../support/security/tools-api.ts";
import { openEmbeddedDatabase } from "../../../support/servers/databases.ts";

let stage: ToolsStage;
let world: SecurityWorld;
let project: string;
let finding: string;

beforeAll(async () => {
  stage = await toolsStage(openEmbeddedDatabase);
  world = SecurityWorld.on(stage);
}, 60_000);
afterAll(() => stage[Symbol.asyncDispose]());
beforeEach(async () => {
  project = await world.onlyProject("shop");
  await world.publish(lodash("CVE-2026-0001"));
  await world.upload(project, ["pkg:npm/lodash@4.17.19", "pkg:npm/lodash@4.17.20"]);
  await world.scan();
  finding = (await world.findings(project))[0]?.id ?? "";
});

describe("get_remediation", () => {
  beforeEach(async () => {
    const entry = (ranges = fixedIn("1.0.0")) => [{ ecosystem: "npm" as const, name: "leaf", ranges }];
    await world.publish(
      { id: "CVE-2026-0002", affected: entry(fixedIn("1.2.5", "1.2.0")) },
      { id: "CVE-2026-0003", affected: entry(fixedIn("2.0.0", "1.2.4")) },
      {
        id: "CVE-2026-0004",
        affected: [{ ecosystem: "npm", name: "stuck", ranges: [{ type: "SEMVER", events: [{ introduced: "0" }] }] }],
      },
    );
    await world.upload(project, [
      { purl: "pkg:npm/shop@1.0.0", relation: "root" },
      { purl: "pkg:npm/middle@3.0.0", relation: "direct", via: 0 },
      { purl: "pkg:npm/leaf@1.2.4", relation: "transitive", via: 1 },
      { purl: "pkg:npm/stuck@1.0.0", relation: "direct", via: 0 },
    ]);
    await world.scan();
  });

  test("lists the nearest version for each finding, and for each component the version that fixes all findings and the path to it", async () => {
    const data = await stage.api.data("get_remediation", { project_id: project });
    expect(data).toMatchObject({ project_id: project, findings_total: 3, components_total: 2 });
    expect(data["findings"]).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          cve_id: "CVE-2026-0002",
          component: "leaf@1.2.4",
          fix_version: "1.2.5",
          step: "patch",
          reason: null,
        }),
        expect.objectContaining({ cve_id: "CVE-2026-0003", fix_version: "2.0.0", step: "major" }),
        expect.objectContaining({
          cve_id: "CVE-2026-0004",
          fix_version: null,
          step: null,
          reason: "No advisory names a later version that fixes it",
        }),
      ]),
    );
    expect(data["components"]).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          component: "leaf@1.2.4",
          fix_version: "2.0.0",
          open_findings: 2,
          clears: 2,
          relation: "transitive",
          path: ["shop@1.0.0", "middle@3.0.0", "leaf@1.2.4"],
        }),
        expect.objectContaining({ component: "stuck@1.0.0", fix_version: null, open_findings: 1, clears: 0 }),
      ]),
    );
  });

  test("lists one finding and its component when asked for a finding", async () => {
    const [, second] = (await world.findings(project)).filter(({ present }) => present);
    const data = await stage.api.data("get_remediation", { finding_id: second?.id });
    expect(data).toMatchObject({
      findings: [{ finding_id: second?.id, cve_id: "CVE-2026-0003" }],
      findings_total: 1,
      components: [{ component: "leaf@1.2.4", open_findings: 2, fix_version: "2.0.0" }],
      components_total: 1,
    });
  });

  test("keeps names and package URLs whole, and cuts the names of a path", async () => {
    const long = "x".repeat(4_000);
    const steps = Array.from({ length: 63 }, (_, index) => ({
      purl: `pkg:npm/${long}${index}@1.0.0`,
      via: index,
      relation: "transitive" as const,
    }));
    const purl = `pkg:npm/leaf@1.2.4?note=${"x".repeat(4_000)}`;
    const others = ["1.2.0", "1.2.1", "1.2.2"].map((version) => `pkg:npm/leaf@${version}`);
    await world.upload(project, [
      { purl: "pkg:npm/shop@1.0.0", relation: "root" },
      ...steps,
      ...[purl, ...others].map((leaf) => ({ purl: leaf, relation: "transitive" as const, via: 63 })),
    ]);
    await world.scan();
    const data = await stage.api.data("get_remediation", { project_id: project });
    expect(JSON.stringify(data).length).toBeLessThan(525_000);
    const components = Array.isArray(data["components"]) ? data["components"].map(objectOf) : [];
    const component = components.find((one) => one["component"] === "leaf@1.2.4") ?? {};
    const path = Array.isArray(component["path"]) ? component["path"].map(String) : [];
    expect([component["component"], component["purl"], path[0], path.at(-1)]).toEqual(["leaf@1.2.4", purl, "…", "leaf@1.2.4"]);
    expect(
      path.every((step) => step === "…" || step.endsWith("@1.2.4") || step === `${long.slice(0, pathNameCharactersMax)}…`),
    ).toBe(true);
  });

  test("has the same rows for any page size", async () => {
    const whole = await stage.api.data("get_remediation", { project_id: project });
    expect(whole).toMatchObject({ limit: 200, offset: 0, has_more: false });
    for (const list of ["findings", "components"] as const) {
      const walked: unknown[] = [];
      for (let offset = 0; ; offset++) {
        const page = await stage.api.data("get_remediation", { project_id: project, limit: 1, offset });
        const { [list]: rows } = page;
        walked.push(...(Array.isArray(rows) ? rows : []));
        expect(page).toMatchObject({ findings_total: 3, components_total: 2, limit: 1, offset });
        if (page["has_more"] !== true) break;
      }
      expect(walked).toEqual(whole[list] as unknown[]);
    }
    expect(await stage.api.data("get_remediation", { project_id: project, offset: 3 })).toMatchObject({
      findings: [],
      findings_total: 3,
      components: [],
      components_total: 2,
      has_more: false,
    });
  });

  test("explains a gone finding, and is empty when no finding is left", async () => {
    await world.upload(project, []);
    await world.scan();
    expect(await stage.api.data("get_remediation", { finding_id: finding })).toMatchObject({
      components: [{ relation: null, path: [], open_findings: 0 }],
    });
    expect(await stage.api.data("get_remediation", { project_id: project })).toMatchObject({
      findings: [],
      findings_total: 0,
      components: [],
      components_total: 0,
    });
  });

  test("refuses neither a project nor a finding, and both", async () => {
    for (const body of [{}, { project_id: "a", finding_id: "b" }])
      expect(await stage.api.refusal("get_remediation", body)).toBe('Exactly one of "project_id" and "finding_id" is needed');
  });
});
