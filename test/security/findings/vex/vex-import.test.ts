/** Imports of VEX documents into projects: what they reach, what they never reach, and round trips through each format. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { systemClock } from "../../../../src/kernel/clock.ts";
import { justifications } from "../../../../src/security/findings/decision.ts";
import { triage } from "../../../../src/security/findings/triage/triage.ts";
import { exportVex, vexFormats, type VexFormat } from "../../../../src/security/findings/vex/export-vex.ts";
import { importVex } from "../../../../src/security/findings/vex/import-vex.ts";
import { failureOf } from "../../../support/failure-of.ts";
import { SecurityWorld } from "../../../support/security/security-world.ts";
import { ManualClock } from "../../../support/clock.ts";
import { toolsStage, type ToolsStage } from "../../../support/security/tools-api.ts";
import { oneDatabase } from "../../../support/servers/databases.ts";

const publicUrl = "https://weir.example.com";
const serial = "3e671687-395b-41f5-a30f-a58921a69b79";
const operator = { kind: "operator" } as const;

describe.each(oneDatabase)("an import on $name", ({ open }) => {
  let stage: ToolsStage;
  let world: SecurityWorld;
  let shop: string;
  let project: string;

  beforeAll(async () => {
    stage = await toolsStage(open);
    const clock = new ManualClock(Date.UTC(2026, 10, 1));
    world = new SecurityWorld({ sql: stage.database.sql, clock, workspace: stage.workspace });
    const ranges = [{ type: "SEMVER", events: [{ introduced: "0" }] }];
    const affected = ["a", "b"].map((name) => ({ ecosystem: "npm" as const, name, ranges }));
    await world.publish({ id: "CVE-2026-0001", aliases: ["GHSA-aaaa-bbbb-cccc"], affected });
    project = shop = await world.project("shop");
    await has("pkg:npm/a@1.0.0", "pkg:npm/a@2.0.0", "pkg:npm/b@1.0.0");
  });
  afterAll(() => stage[Symbol.asyncDispose]());

  /** A project of an application with two packages, one of them in two versions, that all have the issue. */
  beforeEach(async () => {
    project = shop;
    const { sql } = stage.database;
    await sql`DELETE FROM triages`;
    await sql`UPDATE findings SET status = 'open', false_positive = false`;
  });

  /** For tests with other components. */
  async function another(name: string) {
    project = await world.project(name);
    await has("pkg:npm/a@1.0.0", "pkg:npm/a@2.0.0", "pkg:npm/b@1.0.0");
  }

  async function has(...purls: string[]) {
    const sbom = await world.upload(project, [{ purl: "pkg:generic/shop@1.0.0", relation: "root" }, ...purls]);
    await stage.database.sql`UPDATE sboms SET document_id = ${`urn:uuid:${serial}`} WHERE id = ${sbom}`;
    await world.scan();
  }

  const parts = () => ({ sql: stage.database.sql, clock: systemClock, publicUrl });
  const send = (document: object, to = project) => {
    const bytes = Buffer.from(JSON.stringify(document));
    return importVex({ actor: operator, workspace: stage.workspace, project: to, bytes }, parts());
  };
  const said = (affects: object[] | undefined, analysis: object = { state: "not_affected" }, rest: object = {}) =>
    send({ bomFormat: "CycloneDX", ...rest, vulnerabilities: [{ id: "CVE-2026-0001", analysis, affects }] });
  /** The versions with a decision, such as `a 1.0.0`. */
  const decided = async (of = project) => {
    const rows = await stage.database.sql<{ line: string }[]>`
      SELECT component || ' ' || version AS line FROM findings WHERE project_id = ${of} AND status <> 'open' AND present ORDER BY 1`;
    return rows.map(({ line }) => line).join(", ");
  };
  const everything = "a 1.0.0, a 2.0.0, b 1.0.0";

  test.each<[string, string, object]>([
    ["a bom-ref of the uploaded SBOM", "ref-3", {}],
    ["a bom-ref of it by BOM-Link", `urn:cdx:${serial}/1#ref-3`, {}],
    ["a package URL by BOM-Link", `urn:cdx:${serial}/1#pkg%3Anpm/b@1.0.0`, {}],
    [
      "a bom-ref of a nested component of the document",
      "deep",
      { components: [{ components: [{ "bom-ref": "deep", purl: "pkg:npm/b@1.0.0" }] }] },
    ],
  ])("reaches the component that a statement names by %s", async (_what, ref, rest) => {
    expect(await said([{ ref }], undefined, rest)).toMatchObject({ updated: 1, unmatched: 0 });
    expect(await decided()).toBe("b 1.0.0");
  });

  test.each<[string, string | null, object]>([
    ["its document's product", "app", { metadata: { component: { "bom-ref": "app", name: "shop" } } }],
    ["the root of the SBOM by bom-ref", "ref-0", {}],
    ["the root of the SBOM by package URL", "pkg:generic/shop@1.0.0", {}],
    ["the whole SBOM by BOM-Link", `urn:cdx:${serial}/1`, {}],
    [
      "its whole document by BOM-Link",
      "urn:cdx:00000000-0000-4000-8000-000000000000/1",
      { serialNumber: "urn:uuid:00000000-0000-4000-8000-000000000000" },
    ],
    ["no component", null, {}],
  ])("reaches all components with the vulnerability from a statement about %s", async (_what, ref, rest) => {
    expect(await said(ref === null ? undefined : [{ ref }], undefined, rest)).toMatchObject({ updated: 3, unmatched: 0 });
    expect(await decided()).toBe(everything);
  });

  test.each<[string, string, string, object]>([
    ["another SBOM", "other_sbom", "urn:cdx:00000000-0000-4000-8000-000000000000/1#ref-3", {}],
    ["another whole SBOM", "other_sbom", "urn:cdx:00000000-0000-4000-8000-000000000000/1", {}],
    ["another version of the product", "other_version", "pkg:generic/shop@2.0.0", {}],
    [
      "another version of the product by its name",
      "other_version",
      "app",
      { metadata: { component: { "bom-ref": "app", name: "Shop", version: "2.0.0" } } },
    ],
    ["another product", "other_product", "app", { metadata: { component: { "bom-ref": "app", purl: "pkg:generic/other@1" } } }],
    ["nothing that is known", "unknown_reference", "ref-9", {}],
  ])("never reaches a finding from a statement about %s", async (_what, reason, ref, rest) => {
    expect(await said([{ ref }], undefined, rest)).toMatchObject({ updated: 0, unmatched_first: [{ reason, ref }] });
    expect(await decided()).toBe("");
  });

  test("a decision reaches the versions of its statement alone, and no later version", async () => {
    await another("ranged");
    const versions = [
      { range: "vers:npm/>=1.5.0|<3.0.0", status: "unaffected" },
      { version: "1.0.0", status: "affected" },
    ];
    expect(await said([{ ref: "pkg:npm/a", versions }])).toMatchObject({ updated: 1 });
    expect(await decided()).toBe("a 2.0.0");
    await has("pkg:npm/a@1.0.0", "pkg:npm/a@2.0.0", "pkg:npm/a@3.0.0", "pkg:npm/b@1.0.0");
    expect(await decided()).toBe("a 2.0.0");
  });

  test("a decision about a package without a version holds for later versions too", async () => {
    await another("upgraded");
    await said([{ ref: "pkg:npm/a" }], { state: "not_affected", detail: "unused" });
    await has("pkg:npm/a@1.0.0", "pkg:npm/a@3.0.0");
    expect(await decided()).toBe("a 1.0.0, a 3.0.0");
  });

  test("a version that was called resolved and comes back is open again, and the decision about another version stays", async () => {
    await another("returned");
    await said([{ ref: "pkg:npm/a@1.0.0" }], { state: "resolved" });
    await said([{ ref: "pkg:npm/a@2.0.0" }], { state: "not_affected" });
    await has("pkg:npm/a@2.0.0");
    await has("pkg:npm/a@1.0.0", "pkg:npm/a@2.0.0");
    expect(await decided()).toBe("a 2.0.0");
  });

  test("two versions have two decisions, each with its note, until a person decides about the package", async () => {
    await said([{ ref: "pkg:npm/a@1.0.0" }], { state: "not_affected", justification: "code_not_reachable", detail: "one" });
    await said([{ ref: "pkg:npm/a@2.0.0" }], { state: "exploitable", response: ["update"], detail: "two" });
    const notes = async () => {
      const { vulnerabilities } = await exportVex({ project, format: "cyclonedx" }, parts());
      return vulnerabilities
        .flatMap(({ analysis: { state, detail = "" }, affects }) => affects.map(({ ref }) => `${ref} ${state} ${detail}`))
        .toSorted();
    };
    expect(await notes()).toEqual([
      "pkg:npm/a@1.0.0 not_affected one",
      "pkg:npm/a@2.0.0 exploitable two",
      "pkg:npm/b@1.0.0 in_triage ",
    ]);
    const finding = (await world.findings(project)).find(({ version }) => version === "2.0.0");
    const decided = { finding: finding?.id ?? "", status: "ignored" as const, note: "all" };
    await triage({ actor: operator, workspace: stage.workspace, decided }, parts());
    expect(await notes()).toEqual([
      "pkg:npm/a@1.0.0 exploitable all",
      "pkg:npm/a@2.0.0 exploitable all",
      "pkg:npm/b@1.0.0 in_triage ",
    ]);
  });

  test("the latest of contradicting statements decides, whatever their order", async () => {
    const at = (lastUpdated: string, state: string) => ({
      id: "CVE-2026-0001",
      analysis: { state, lastUpdated },
      affects: [{ ref: "pkg:npm/b@1.0.0" }],
    });
    const vulnerabilities = [at("2026-03-01T00:00:00Z", "in_triage"), at("2026-02-01T00:00:00Z", "not_affected")];
    await send({ bomFormat: "CycloneDX", vulnerabilities });
    expect(await decided()).toBe("");
  });

  test("an OpenVEX statement about a part of another product, and a CSAF one outside its range, decide nothing", async () => {
    const of = (id: string) => ({ products: [{ "@id": id, subcomponents: [{ "@id": "pkg:npm/b@1.0.0" }] }] });
    const openVex = (id: string) => ({
      "@context": "https://openvex.dev/ns/v0.2.0",
      statements: [{ vulnerability: { name: "GHSA-other-0", aliases: ["ghsa-aaaa-bbbb-cccc"] }, ...of(id), status: "fixed" }],
    });
    expect(await send(openVex("pkg:generic/other@1.0.0"))).toMatchObject({
      unmatched_first: [{ id: "GHSA-OTHER-0", reason: "other_product" }],
    });
    const range = (name: string) => ({
      document: { csaf_version: "2.1", category: "csaf_vex" },
      product_tree: {
        branches: [
          {
            category: "product_version_range",
            name,
            product: { name: "b", product_id: "b", product_identification_helper: { purls: ["pkg:npm/b"] } },
          },
        ],
      },
      vulnerabilities: [{ cve: "CVE-2026-0001", product_status: { known_not_affected: ["b"] } }],
    });
    expect(await send(range("vers:npm/>1.0.0"))).toMatchObject({
      unmatched_first: [{ ref: "pkg:npm/b", reason: "other_version" }],
    });
    expect(await decided()).toBe("");
    await send(openVex("pkg:generic/shop@1.0.0"));
    await send(range("vers:npm/<=1.0.0"));
    expect(await decided()).toBe("b 1.0.0");
  });

  test.each(vexFormats.map((format) => [format]))(
    "%s takes every decision to a fresh project, and back without a change",
    async (format) => {
      const all = [
        { state: "in_triage", detail: "being looked at" },
        { state: "exploitable", response: ["update"], detail: "planned" },
        { state: "exploitable", response: ["update"] },
        { state: "exploitable", response: ["will_not_fix"], detail: "accepted" },
        { state: "exploitable", response: ["will_not_fix"] },
        { state: "resolved", detail: "patched" },
        { state: "resolved" },
        { state: "false_positive", detail: "another package" },
        { state: "false_positive" },
        { state: "not_affected" },
        { state: "not_affected", detail: "never called" },
        ...justifications.flatMap((justification) => [
          { state: "not_affected", justification },
          { state: "not_affected", justification, detail: "never called" },
        ]),
      ];
      project = await world.project(`from ${format}`);
      const purls = all.map((_, index) => `pkg:npm/a@1.0.${index}`);
      await has(...purls);
      const vulnerabilities = all.map((analysis, index) => ({ id: "CVE-2026-0001", analysis, affects: [{ ref: purls[index] }] }));
      await send({ bomFormat: "CycloneDX", vulnerabilities });
      const exported = await exportVex<VexFormat>({ project, format }, parts());
      const fresh = await world.project(`to ${format}`);
      await world.upload(fresh, [{ purl: "pkg:generic/shop@1.0.0", relation: "root" }, ...purls]);
      await world.scan();
      const decisions = (of: string) => stage.database.sql`
      SELECT version, findings.status, findings.false_positive, note, justification FROM findings
      LEFT JOIN triages USING (project_id, package_id, vulnerability_id, version)
      WHERE project_id = ${of} AND present ORDER BY version`;
      expect(await send(exported, fresh)).toMatchObject({ unmatched: 0, updated: all.length });
      expect([...(await decisions(fresh))]).toEqual([...(await decisions(project))]);
      expect(await send(exported)).toMatchObject({ updated: 0, unchanged: all.length });
    },
  );

  test("a project without findings has no OpenVEX and no CSAF document, and the refusal says so", async () => {
    const empty = await world.project("empty");
    for (const format of ["openvex", "csaf"] as const) {
      expect(await failureOf(exportVex({ project: empty, format }, parts()))).toMatchObject({ code: "conflict" });
    }
    expect(await exportVex({ project: empty, format: "cyclonedx" }, parts())).toMatchObject({ vulnerabilities: [] });
  });
});
