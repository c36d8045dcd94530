/** Go modules with capitals in their names match the canonical package URLs of Go, which have none, and the other way round. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { readArchive } from "../../../support/security/advisories.ts";
import { AdvisoryStore } from "../../../support/security/advisory-store.ts";
import { databases, openEmbeddedDatabase } from "../../../support/servers/databases.ts";
import { fixedIn, SecurityWorld, type TestRecord } from "../../../support/security/security-world.ts";
import { testData } from "../../../support/test-data.ts";
import { toolsStage, type ToolsStage } from "../../../support/security/tools-api.ts";

function about(id: string, name: string, fixed = "1.1.1"): TestRecord {
  return { id, affected: [{ ecosystem: "Go", name, ranges: fixedIn(fixed) }] };
}

describe.each(databases)("Go modules on $name", ({ open, runsAll }) => {
  let stage: ToolsStage;
  let world: SecurityWorld;
  let project = "";
  beforeAll(async () => {
    stage = await toolsStage(open);
    world = SecurityWorld.on(stage);
  }, 60_000);
  afterAll(() => stage[Symbol.asyncDispose]());
  beforeEach(async () => {
    project = await world.onlyProject("shop");
  });

  const found = async (purl: string) => {
    await world.upload(project, [purl]);
    await world.scan();
    return (await world.findings(project)).filter(({ present }) => present).map(({ name }) => name);
  };

  test.each(["github.com/Masterminds/goutils", "github.com/masterminds/goutils"])(
    "a record of %s is found by a package URL in either spelling, with its fix",
    async (name) => {
      await world.publish(about("GO-2021-0001", name));
      for (const spelled of [
        "github.com/masterminds/goutils",
        "github.com/Masterminds/goutils",
        "github.com/masterMinds/goutils",
      ]) {
        expect(await found(`pkg:golang/${spelled}@v1.1.0`)).toEqual(["GO-2021-0001"]);
        expect(await found(`pkg:golang/${spelled}@v1.1.1`)).toEqual([]);
      }
      await world.upload(project, ["pkg:golang/github.com/masterminds/goutils@v1.1.0"]);
      await world.scan();
      expect(await stage.api.data("get_remediation", { project_id: project })).toMatchObject({
        findings: [{ component: "github.com/masterminds/goutils@v1.1.0", fix_version: "1.1.1" }],
      });
    },
  );

  if (!runsAll) return;

  test("each of two modules that differ only by case matches its own advisory, and a third spelling matches both", async () => {
    await world.publish(about("GO-2021-0001", "example.com/Pkg"), about("GO-2021-0002", "example.com/pkg"));
    expect(await found("pkg:golang/example.com/Pkg@v1.0.0")).toEqual(["GO-2021-0001"]);
    expect(await found("pkg:golang/example.com/pkg@v1.0.0")).toEqual(["GO-2021-0002"]);
    expect(await found("pkg:golang/example.com/PKG@v1.0.0")).toEqual(["GO-2021-0001", "GO-2021-0002"]);
  });

  test("a withdrawn advisory of one spelling does not hide another spelling", async () => {
    await world.publish(
      { ...about("GO-2021-0002", "example.com/pkg"), withdrawn: true },
      about("GO-2021-0001", "example.com/Pkg"),
    );
    expect(await found("pkg:golang/example.com/pkg@v1.0.0")).toEqual(["GO-2021-0001"]);
  });

  test("case is significant in every other ecosystem", async () => {
    await world.publish({ id: "X-1", affected: [{ ecosystem: "npm", name: "JSONStream", ranges: fixedIn("2.0.0") }] });
    expect(await found("pkg:npm/jsonstream@1.0.0")).toEqual([]);
  });

  test("an import of one spelling requests scans of projects with another spelling, and its withdrawal resolves findings", async () => {
    await world.upload(project, ["pkg:golang/github.com/masterminds/goutils@v1.1.0"]);
    await world.scan();
    await world.publish(about("GO-2021-0001", "github.com/Masterminds/goutils"));
    expect(await world.scanState(project)).toMatchObject({ scan_status: "pending" });
    await world.scan();
    expect(await world.findingLines(project)).toEqual(["GO-2021-0001 v1.1.0 open"]);
    await world.publish(about("GO-2021-0001", "github.com/Masterminds/goutils", "1.0.9"));
    await world.scan();
    expect(await world.findingLines(project)).toEqual(["GO-2021-0001 v1.1.0 resolved gone"]);
  });

  test("the component name identifies one of two modules with the same canonical package URL", async () => {
    await world.publish(about("GO-2021-0001", "example.com/Pkg"), about("GO-2021-0002", "example.com/pkg"));
    const component = { type: "library", version: "v1.0.0", purl: "pkg:golang/example.com/pkg@v1.0.0" };
    for (const [named, expected] of [
      [{ name: "example.com/Pkg" }, "GO-2021-0001"],
      [{ group: "example.com", name: "Pkg" }, "GO-2021-0001"],
      [{ name: "example.com/pkg" }, "GO-2021-0002"],
      [{ name: "something else" }, "GO-2021-0002"],
    ] as const) {
      const sbom = { bomFormat: "CycloneDX", specVersion: "1.6", components: [{ ...component, ...named }] };
      const { project_id: id } = await stage.api.data("upload_sbom", { sbom, project: JSON.stringify(named) });
      await world.scan();
      expect((await world.findings(String(id))).map(({ name }) => name)).toEqual([expected]);
    }
  });
});

const golang = testData("golang-vulndb-osv.tar.gz");

describe.skipIf(golang === null)("modules with capitals in golang/vulndb (WEIR_TEST_DATA)", () => {
  test("each module has the same issues by its canonical package URL and by its own spelling", async () => {
    await using stage = await toolsStage(openEmbeddedDatabase);
    const world = SecurityWorld.on(stage);
    const records = (await readArchive(golang ?? "")).flatMap((reading) => ("advisory" in reading ? [reading] : []));
    const modulesOf = ({ advisory }: (typeof records)[number]) => advisory.affected.flatMap((one) => one.package?.name ?? []);
    const names = new Set(records.flatMap(modulesOf).filter((name) => name !== name.toLowerCase()));
    expect(names.size).toBe(81);
    const lower = new Set([...names].map((name) => name.toLowerCase()));
    const about = records.filter((record) => modulesOf(record).some((name) => lower.has(name.toLowerCase())));
    await new AdvisoryStore(world.sql).take(...about.map(({ raw }) => raw));
    const issuesOf = async (project: string, spelled: (name: string) => string) => {
      const id = await world.project(project);
      await world.upload(
        id,
        [...names].map((name) => `pkg:golang/${spelled(name)}@v0.0.0-20100101000000-000000000000`),
      );
      await world.scan();
      return world.sql<{ module: string; issues: string[] }[]>`
        SELECT lower(component) AS module, array_agg(DISTINCT vulnerabilities.name ORDER BY vulnerabilities.name) AS issues
        FROM findings JOIN vulnerabilities ON vulnerabilities.id = vulnerability_id WHERE project_id = ${id}
        GROUP BY 1 ORDER BY 1`;
    };
    const own = await issuesOf("own", (name) => name);
    expect(own.length).toBeGreaterThan(60);
    // Two of these modules differ only by case, so one canonical package URL stands for both.
    expect(await issuesOf("canonical", (name) => name.toLowerCase())).toEqual(own);
  }, 60_000);
});
