/** Components: those of a project, and where one is in all projects. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ConsoleWorld, type Browser } from "../support/console.ts";
import { SecurityWorld } from "../support/security/security-world.ts";
import { oneDatabase, type TestDatabase } from "../support/servers/databases.ts";

describe.each(oneDatabase)("components on $name", ({ open }) => {
  let database: TestDatabase;
  let world: ConsoleWorld;
  let security: SecurityWorld;
  let member: Browser;
  let auditor: Browser;
  let project = "";
  let strange = "";
  const at = (path: string) => `/console/w/acme${path}`;
  const see = async (path: string, browser = member) => (await world.get(at(path), browser)).text;

  beforeAll(async () => {
    database = await open();
    world = new ConsoleWorld(database.sql);
    const workspace = await world.control.workspace("acme");
    const other = await world.control.workspace("other");
    security = new SecurityWorld({ sql: database.sql, clock: world.control.clock, workspace });
    [member, auditor] = [await world.signIn("member@acme"), await world.signIn("auditor@acme")];
    const ranges = [{ type: "SEMVER", events: [{ introduced: "0" }, { fixed: "4.17.21" }] }];
    await security.publish({
      id: "GHSA-1111",
      aliases: ["CVE-2026-0001"],
      affected: [{ ecosystem: "npm", name: "lodash", ranges }],
    });
    [project, strange] = [await security.project("shop"), await security.project("strange", other)];
    await security.upload(project, [
      { purl: "pkg:npm/app@1.0.0", relation: "root" },
      { purl: "pkg:npm/express@4.0.0", via: 0 },
      { purl: "pkg:npm/lodash@4.17.20", relation: "transitive", via: 1 },
    ]);
    await security.upload(strange, ["pkg:npm/lodash@4.17.20"]);
    await security.scan();
  });
  afterAll(() => database[Symbol.asyncDispose]());

  test("a component is found in every project of the workspace, by its name, its package URL and the search, and as a file", async () => {
    expect(await see("/projects")).toContain(`href="${at("/components")}"`);
    for (const sought of ["LODA", "pkg:npm/lodash", "pkg:npm/lodash@4.17.20"]) {
      const text = await see(`/components?name=${encodeURIComponent(sought)}`);
      expect([sought, text.includes(`href="${at(`/projects/${project}/components?text=lodash`)}"`)]).toEqual([sought, true]);
      expect([
        text.includes("1 found in 1 project<"),
        text.includes("transitive"),
        text.includes("4.17.20"),
        text.includes(strange),
      ]).toEqual([true, true, true, false]);
      expect(text).toContain(`href="${at(`/projects/${project}?component=lodash`)}">1</a>`);
    }
    expect(await see("/components?name=loda&exact=true")).toContain("No current SBOM has a component “loda”");
    expect(await see("/find?q=lodash")).toMatch(/href="[^"]*\/components\?name=lodash"[^]*in 1 project/);
    const [head, row, ...more] = (await see("/components?name=lodash&as=csv", auditor)).trim().split("\r\n");
    expect([head?.split(",").slice(0, 4), more]).toEqual([["project", "project_id", "component", "version"], []]);
    expect(row).toContain(`,${project},lodash,4.17.20,npm,pkg:npm/lodash@4.17.20,transitive,1,`);
  });

  test("a finding leads to its package in all projects, in any version", async () => {
    const [finding] = await security.findings(project);
    const path = at(`/components?name=${encodeURIComponent("pkg:npm/lodash")}`);
    expect(await see(`/findings/${finding?.id}`)).toContain(`href="${path}">in all projects</a>`);
  });

  test.each([
    ["name=pkg%3Anpm", "The package URL cannot be read"],
    ["name=%2D", "A name has at least one letter or digit"],
    ["name=lodash&exact=worst", "exact"],
  ])("a search for a component with %s says what is wrong with it, above the field that has it", async (query, cause) => {
    const text = await see(`/components?${query}`);
    expect(/<p class="notice bad"[^>]*>(.*?)<\/p>/.exec(text)?.[1]).toContain(cause);
    expect(text).not.toContain("No current SBOM");
  });

  test("a project has its components with licences and the way to each, by filters and as a file", async () => {
    const tab = `/projects/${project}/components`;
    const all = await see(tab);
    for (const words of ["express", "lodash", "transitive", "component=lodash", "no licence named", "2 in all"])
      expect(all).toContain(words);
    expect(await see(`${tab}?vulnerable=true`)).toContain("1 in all");
    expect(await see(`${tab}?text=nothing-like-this`)).toContain("No component matches");
    const csv = await world.get(at(`${tab}?as=csv&relation=transitive`), member);
    expect(csv.text.trim().split("\r\n")).toMatchObject([
      expect.stringMatching(/^name,version/),
      expect.stringMatching(/^lodash,/),
    ]);
  });

  test("the last page of 20,000 components is read like the first, and licences are counted over all", async () => {
    const big = await security.project("big");
    const id = "sbom_aaaaaaaaaaaaaaaaaaaaaaaaaa";
    const { sql } = database;
    await sql`
      INSERT INTO sboms (id, workspace_id, project_id, sha256, digest, format, spec_version, encoding, components, created_by, created_at)
      SELECT ${id}, workspace_id, id, ''::bytea, ''::bytea, 'SPDX', '2.3', 'json', 20000, 'operator', now() FROM projects WHERE id = ${big}`;
    await sql`
      INSERT INTO sbom_components (sbom_id, position, ref, name, version, relation, licenses)
      SELECT ${id}, n, 'ref-' || n, 'library-' || n, '1.0.0', CASE n WHEN 0 THEN 'root' ELSE 'direct' END, CASE n % 4 WHEN 0 THEN '{}'::text[] ELSE '{MIT}' END
      FROM generate_series(0, 20000) AS n`;
    await sql`UPDATE projects SET sbom_id = ${id} WHERE id = ${big}`;
    const last = await see(`/projects/${big}/components?skip=19950`);
    for (const words of ["library-20000", "Components 19951 to 20000", "20,000 in all"]) expect(last).toContain(words);
    expect(last).toContain('license=none">no licence named</a> <span class="count">5,000</span>');
    expect(await see(`/projects/${big}/components?license=MIT&text=library-1999`)).toContain("9 in all");
    const csv = await world.get(at(`/projects/${big}/components?as=csv`), member);
    expect(csv.text.trim().split("\r\n").length).toBe(20_001);
  });
});
