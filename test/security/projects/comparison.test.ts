/** No green without knowledge: a scan that had no advisories to compare with is not a verdict. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { advisoryStaleMs } from "../../../src/security/limits.ts";
import { objectOf } from "../../support/control.ts";
import { oneDatabase } from "../../support/servers/databases.ts";
import { fixedIn, lodash } from "../../support/security/security-world.ts";
import { rowsOf } from "../../support/security/shop.ts";
import { twoWorkspaces, type TwoWorkspaces } from "../../support/security/two-workspaces.ts";

const bomOf = (...purls: string[]) => ({
  bomFormat: "CycloneDX",
  specVersion: "1.6",
  metadata: { component: { type: "application", "bom-ref": "app", name: "app", purl: "pkg:npm/app@1.0.0" } },
  components: purls.map((purl) => ({ type: "library", "bom-ref": purl, name: "x", purl: `pkg:${purl}` })),
});

describe.each(oneDatabase)("what was compared, on $name", ({ open }) => {
  let stage: TwoWorkspaces;
  const ids = new Map<string, string>();
  const upload = async (project: string, ...purls: string[]) => {
    const stored = await stage.api.data("upload_sbom", { sbom: bomOf(...purls), project, product: project });
    ids.set(project, String(stored["project_id"]));
    return stored;
  };
  const shown = async (name: string) => stage.api.data("get_project", { project_id: ids.get(name) });
  const matches = async (name: string) =>
    rowsOf(objectOf((await shown(name))["components"]), "items").map(({ match }) => objectOf(match));
  const coverage = async (name: string) => objectOf((await shown(name))["metrics"])["coverage"];
  const statuses = async () => {
    const rows = rowsOf(await stage.api.data("list_projects"), "projects");
    return Object.fromEntries(rows.map(({ name, scan_status: status, components_not_compared: left }) => [name, [status, left]]));
  };
  const postures = async () => {
    const rows = rowsOf(await stage.api.data("list_products"), "products");
    return Object.fromEntries(rows.map(({ name, posture }) => [name, posture]));
  };

  beforeAll(async () => {
    stage = await twoWorkspaces(open);
    await upload("vulnerable", "npm/lodash@4.17.20");
    await upload("clean", "npm/left-pad@1.3.0");
    await upload("mixed", "npm/left-pad@1.3.0", "npm/left-pad@latest", "pypi/jinja2@2.0", "deb/debian/curl@7.0");
    await upload("system", "deb/debian/curl@7.0");
    await upload("unversioned", "npm/left-pad");
    await upload("empty");
    await stage.world.scan();
  });
  afterAll(() => stage[Symbol.asyncDispose]());

  test("without advisories a scan of lodash 4.17.20 is not comparable, and no product has a posture", async () => {
    expect(await statuses()).toEqual({
      vulnerable: ["not_comparable", 1],
      clean: ["not_comparable", 1],
      mixed: ["not_comparable", 4],
      system: ["not_comparable", 1],
      unversioned: ["not_comparable", 1],
      empty: ["not_comparable", 0],
    });
    expect(new Set(Object.values(await postures()))).toEqual(new Set([null]));
    expect((await upload("vulnerable", "npm/lodash@4.17.20"))["scan_status"]).toBe("not_comparable");
  });

  test("no component is called compared where its ecosystem has no advisories", async () => {
    const none = { state: "not_matched", reason: "there are no advisories for npm" };
    expect(await matches("vulnerable")).toEqual([none]);
    expect(await matches("unversioned")).toEqual([none]);
  });

  test("agents are told so by each answer that looks clean", async () => {
    const messageOf = async (operation: string, body: object) =>
      objectOf((await stage.api.call(operation, body)).body)["message"];
    expect(await messageOf("get_project", { project_id: ids.get("vulnerable") })).toBe(
      "vulnerable: 1 components, 0 live vulnerabilities, which is no verdict: Its only component cannot be compared with advisories: " +
        "there are no advisories for npm (1 component). The operator imports them",
    );
    const blind =
      "6 of 6 scanned projects are not_comparable: there are no advisories for the components, so this says nothing about them";
    expect(await messageOf("list_findings", {})).toBe(`0 of 0 findings. ${blind}`);
    expect(await messageOf("get_remediation", { project_id: ids.get("vulnerable") })).toBe(
      "0 of 0 findings and 0 of 0 components have a version to upgrade to. The scanned project is not_comparable: there are no advisories for the components, so this says nothing about them",
    );
    expect(await messageOf("list_vulnerabilities", {})).toBe(`0 of 0 vulnerabilities. ${blind}`);
    expect(await messageOf("list_findings", { project_id: ids.get("empty") })).toContain("The scanned project is not_comparable");
  });

  test("once advisories come, the projects that they are about are scanned, also those without a vulnerability", async () => {
    await stage.world.publish(lodash("CVE-2026-1", {}, fixedIn("4.17.21")));
    await stage.world.scan();
    expect(await statuses()).toEqual({
      vulnerable: ["completed", 0],
      clean: ["completed", 0],
      mixed: ["completed", 3],
      system: ["not_comparable", 1],
      unversioned: ["not_comparable", 1],
      empty: ["not_comparable", 0],
    });
    expect((await shown("vulnerable"))["vulnerability_counts"]).toMatchObject({ total: 1 });
    expect(await postures()).toEqual({ vulnerable: "B", clean: "A", mixed: "A", system: null, unversioned: null, empty: null });
  });

  test("with advisories a component is called compared where its version can be read", async () => {
    const compared = { state: "known", reason: null };
    expect(await matches("vulnerable")).toEqual([compared]);
    expect(await matches("unversioned")).toEqual([{ state: "unknown", reason: "the document names no version" }]);
    const mixed = await matches("mixed");
    expect(mixed).toHaveLength(4);
    expect(mixed).toEqual(
      expect.arrayContaining([
        compared,
        { state: "unknown", reason: "its version cannot be read" },
        { state: "not_matched", reason: "there are no advisories for PyPI" },
        { state: "not_matched", reason: "there are no advisories for its kind of package" },
      ]),
    );
  });

  test("an SBOM without findings is judged by its own project, whatever the active scope is", async () => {
    const { sbom_id: sbom } = await upload("system", "deb/debian/curl@7.0");
    await stage.api.data("set_active_scope", { kind: "project", id: ids.get("clean") });
    const { body } = await stage.api.call("list_findings", { sbom_id: sbom });
    expect(objectOf(body)["message"]).toBe(
      "0 of 0 findings. The scanned project is not_comparable: there are no advisories for the components, so this says nothing about them",
    );
    await stage.api.data("set_active_scope", { kind: "workspace" });
  });

  test.each(["failed", "pending"])("a %s scan gives a project that cannot be compared no posture", async (status) => {
    const { sql } = stage.database;
    const id = ids.get("system") ?? "";
    await sql`UPDATE projects SET scan_status = ${status} WHERE id = ${id}`;
    expect((await postures())["system"]).toBeNull();
    const { body } = await stage.api.call("list_findings", { project_id: id });
    expect(objectOf(body)["message"]).toContain("not_comparable");
    await sql`UPDATE projects SET scan_status = 'completed' WHERE id = ${id}`;
  });

  test("a project shows what was compared of each ecosystem, with the age of its advisories, and a warning after a week", async () => {
    const { sql } = stage.database;
    const updatedAt = new Date(stage.control.clock.now()).toISOString();
    await sql`UPDATE advisory_ecosystems SET synced_at = ${updatedAt}`;
    const none = { unreadable_purls: 0, advisories_updated_at: null, incomplete: false, stale: false };
    const npm = { ...none, ecosystem: "npm", components: 2, not_compared: 1, advisories_updated_at: updatedAt };
    const others = [
      { ecosystem: "pypi", components: 1, not_compared: 1, ...none },
      { ecosystem: null, components: 1, not_compared: 1, ...none },
    ];
    expect(await coverage("mixed")).toEqual([{ ...npm, stale: false }, ...others]);
    const { body } = await stage.api.call("get_project", { project_id: ids.get("mixed") });
    expect(objectOf(body)["message"]).toContain(
      "3 of 4 components cannot be compared: 1 component of npm without a readable version; there are no advisories for PyPI (1 component); " +
        "1 component of an unknown ecosystem",
    );
    stage.control.clock.advance(advisoryStaleMs + 1);
    expect(await coverage("mixed")).toEqual([{ ...npm, stale: true }, ...others]);
    const later = await stage.api.call("get_project", { project_id: ids.get("clean") });
    expect(objectOf(later.body)["message"]).toContain(
      "The advisories for npm are older than 7 days: newer vulnerabilities are not found",
    );
  });

  test("a record that dates itself into the future does not make advisories look new", async () => {
    const { sql } = stage.database;
    await sql`UPDATE advisory_ecosystems SET synced_at = NULL, newest_record = '2999-01-01T00:00:00Z'`;
    const [{ imported } = { imported: new Date(0) }] = await sql<{ imported: Date }[]>`
      SELECT imported_at AS imported FROM advisory_ecosystems WHERE ecosystem = 'npm'`;
    expect(objectOf((await shown("clean"))["metrics"])["advisories_updated_at"]).toBe(imported.toISOString());
  });

  test("what stands for a lock file is no component that was left out", async () => {
    const { components, ...bom } = bomOf("npm/left-pad@1.3.0");
    const lockFile = { type: "application", "bom-ref": "package-lock.json", name: "package-lock.json" };
    const stored = await stage.api.data("upload_sbom", {
      sbom: { ...bom, components: [{ ...lockFile, components }] },
      project: "locked",
    });
    ids.set("locked", String(stored["project_id"]));
    expect(await coverage("locked")).toMatchObject([{ ecosystem: "npm", components: 1, not_compared: 0 }]);
    expect((await statuses())["locked"]).toEqual(["pending", 0]);
    await stage.api.data("upload_sbom", { sbom: { ...bom, components: [lockFile] }, project: "only-files" });
    await stage.world.scan();
    ids.set(
      "only-files",
      String((rowsOf(await stage.api.data("list_projects", { name: "only-files" }), "projects")[0] ?? {})["id"]),
    );
    const { body } = await stage.api.call("get_project", { project_id: ids.get("only-files") });
    expect(objectOf(body)["message"]).toContain("The SBOM names files but no packages, so there is nothing to compare");
  });

  test("a package URL that cannot be read is kept with the reason, and its component is counted and told as not compared", async () => {
    const broken = "maven/org.fld/core@2.17.0?classifier&type=jar";
    const purls = ["npm/left-pad@1.3.0", broken, "npm/x@1?a=1&a=2", "npm/y@%zz", "deb/debian/curl@7.0"];
    const body = { sbom: bomOf(...purls), project: "broken" };
    const answer = objectOf((await stage.api.call("upload_sbom", body)).body);
    expect(answer["message"]).toContain("4 of them cannot be compared with advisories");
    expect(answer["data"]).toMatchObject({ components: 5, components_not_compared: 4 });
    expect(objectOf(answer["data"])["warnings"]).toEqual([
      `component "${broken}": has a package URL that cannot be read, so no advisory is compared with it: ` +
        'The qualifiers of the package URL have no valid key in "classifier" (and 2 more)',
    ]);
    ids.set("broken", String(objectOf(answer["data"])["project_id"]));
    await stage.world.scan();
    const project = await shown("broken");
    expect(objectOf(project["sbom"])["warnings"]).toHaveLength(1);
    expect(rowsOf(objectOf(project["components"]), "items").find(({ purl }) => purl === `pkg:${broken}`)?.["match"]).toEqual({
      state: "not_matched",
      reason: 'its package URL cannot be read: the qualifiers of the package URL have no valid key in "classifier"',
    });
    expect(await coverage("broken")).toMatchObject([
      { ecosystem: "npm", not_compared: 0 },
      { ecosystem: null, components: 4, not_compared: 4, unreadable_purls: 3 },
    ]);
    const { body: told } = await stage.api.call("get_project", { project_id: ids.get("broken") });
    expect(objectOf(told)["message"]).toContain(
      "4 of 5 components cannot be compared: 3 components whose package URL cannot be read; 1 component of an unknown ecosystem",
    );
  });

  test("without the advisories of its ecosystem a project is not comparable again", async () => {
    const { sql } = stage.database;
    await sql`DELETE FROM advisory_ecosystems WHERE ecosystem = 'npm'`;
    expect((await shown("clean"))["scan_status"]).toBe("not_comparable");
  });
});
