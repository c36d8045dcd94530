/** No green without knowledge: what pages say of projects that no advisory was compared with, and where the operator gets advisories. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { importExploits } from "../../../src/security/findings/lists/exploits.ts";
import type { Actor } from "../../../src/accounts/audit/actor.ts";
import { advisoryStaleMs } from "../../../src/security/limits.ts";
import { storeSbom } from "../../../src/security/projects/store-sbom.ts";
import { toSbomRows } from "../../../src/security/sboms/sbom-rows.ts";
import { ConsoleWorld, type Browser } from "../../support/console.ts";
import { read } from "../../support/security/sbom-documents.ts";
import { lodash, SecurityWorld } from "../../support/security/security-world.ts";
import { oneDatabase, type TestDatabase } from "../../support/servers/databases.ts";
import { until } from "../../support/until.ts";

setDefaultTimeout(30_000);
const good = '<span class="badge good">';
const actor: Actor = { kind: "member", email: "member@acme", role: "member", carriedBy: "tools key" };
const clean = "No component has a known vulnerability";

describe.each(oneDatabase)("pages about what was compared on $name", ({ open }) => {
  let database: TestDatabase;
  let world: ConsoleWorld;
  let security: SecurityWorld;
  let member: Browser;
  let operator: Browser;
  let project = "";
  const see = async (path: string, browser = member) => (await world.get(`/console/w/acme${path}`, browser)).text;
  const advisories = async () => (await world.get("/console/operator/advisories", operator)).text;

  beforeAll(async () => {
    database = await open();
    world = new ConsoleWorld(database.sql);
    security = new SecurityWorld({
      sql: database.sql,
      clock: world.control.clock,
      workspace: await world.control.workspace("acme"),
    });
    await world.control.workspace("fresh");
    [member, operator] = [await world.signIn("member@acme"), await world.signIn(null)];
    project = await security.project("shop");
    await security.upload(project, ["pkg:npm/lodash@4.17.20", "pkg:npm/left-pad@1.3.0", "pkg:deb/debian/curl@7.0"]);
    await security.scan();
  });
  afterAll(() => database[Symbol.asyncDispose]());

  test("without advisories no page shows green, or says that nothing is vulnerable", async () => {
    const paths = ["", "/projects", `/projects/${project}`, "/findings", "/vulnerabilities"];
    for (const path of paths) {
      const page = await see(path);
      expect([path, page.includes(`${good}scanned`), page.includes(clean)]).toEqual([path, false, false]);
      expect([path, page.includes("cannot be compared") || page.includes("can be compared")]).toEqual([path, true]);
      expect(page).toContain("Ask the operator to import advisories");
    }
    for (const path of ["/projects", `/projects/${project}`])
      expect(await see(path)).toContain('<span class="badge warn">not comparable</span>');
  });

  test("a workspace without projects is told before its first upload", async () => {
    const { text } = await world.get("/console/w/fresh/projects", await world.signIn("member@fresh"));
    expect(text).toContain("There are no advisories yet, so no vulnerability can be found. Ask the operator");
  });

  test("a project that was never scanned has no vulnerabilities that are known, rather than none", async () => {
    const waits = await security.project("waits");
    await security.upload(waits, ["pkg:npm/left-pad@1.3.0"]);
    for (const path of ["/projects", `/projects/${waits}`])
      expect(await see(path)).not.toContain('<span class="none">none</span>');
    await security.scan();
  });

  test("the project says why, of each ecosystem", async () => {
    const page = await see(`/projects/${project}`);
    expect(page).toContain(
      "None of its 3 components can be compared with advisories: there are no advisories for npm (2 components); 1 component",
    );
    expect(page).toContain("npm advisories: none · unknown ecosystem: no advisories");
    expect(page).toContain("Nothing was compared, so whether it has vulnerabilities is not known.");
  });

  test("the operator is led to the page Advisories, which names what is missing", async () => {
    expect(await see("/projects", operator)).toContain('<a href="/console/operator/advisories">Import advisories</a>');
    const page = await advisories();
    expect(page).toContain("Projects have components without advisories, so nothing is found in them: npm (2 projects).");
    expect(page).toContain('<span class="badge bad">missing</span>');
    expect(page).toContain('<option value="npm" selected>');
    expect((await world.get("/console/operator/advisories", member)).status).toBe(403);
  });

  test("Sync now begins a synchronization, and the page tells in words why it failed", async () => {
    const answer = await world.post("/console/operator/advisories", { action: "sync", ecosystem: "npm" }, operator);
    expect([answer.status, answer.headers.get("location")]).toEqual([303, "/console/operator/advisories"]);
    await until(async () => !(await advisories()).includes("data-sync-running"), 25_000);
    const page = await advisories();
    expect(page).toContain("The last synchronization failed.");
    expect(page).toContain("Cannot reach Weir at http://127.0.0.1:9");
  });

  test("the page says how old EPSS and CISA's catalog are, and warns where they are old", async () => {
    const { clock } = world.control;
    const stored = { sql: database.sql, clock };
    const day = (days: number) => new Date(clock.now() - days * 86_400_000).toISOString().slice(0, 10);
    const kev = [{ cve: "CVE-2026-0009", added: "2026-01-02" }];
    expect(await advisories()).not.toContain("Findings are ranked by what is old");
    await importExploits({ date: day(30), kev, etag: '"one"', last: true }, stored);
    await importExploits({ date: day(10), epss: [{ cve: "CVE-2026-0009", epss: 0.1, percentile: 0.1 }], last: true }, stored);
    const page = await advisories();
    expect(page).toContain("Findings are ranked by what is old: EPSS scores, 10 days ago. Synchronize to update it.");
    const row = (name: string) => page.split("<tr").find((one) => one.includes(name)) ?? "";
    expect(row("(KEV)")).toContain(`${good}current</span>`);
    expect(row("EPSS scores<")).toContain("old</span>");
  });

  test("a synchronization that could not read some records did not take over everything", async () => {
    const results = [{ ecosystem: "npm", imported: 5, refused: 1_200, failure: null }];
    await database.sql`UPDATE advisory_sync_run SET failure = NULL, results = ${database.sql.json(results)}`;
    const page = await advisories();
    expect(page).toContain("imported everything but 1,200 records, which could not be read.");
    expect(page).not.toContain('class="notice good"');
  });

  test("while a synchronization runs, no numbers are shown in the place of those that are not counted", async () => {
    await database.sql`UPDATE advisory_sync_run SET ended_at = NULL, seen_at = ${new Date(world.control.clock.now())}`;
    const row = (await advisories()).split("<tr").find((one) => /npm/.test(one)) ?? "";
    expect(row).not.toBe("");
    expect(row).not.toMatch(/>0</);
    await database.sql`UPDATE advisory_sync_run SET ended_at = seen_at`;
  });

  test("once advisories are there, the project is scanned, and says what was left out and how old they are", async () => {
    await security.publish(lodash("CVE-2026-0001"));
    await database.sql`UPDATE advisory_ecosystems SET synced_at = ${new Date(world.control.clock.now() - 2 * 3_600_000)}`;
    await security.scan();
    const page = await see(`/projects/${project}`);
    expect(page).toContain(`${good}scanned</span> <span class="under">1 component not compared</span>`);
    expect(page).toContain("npm advisories: 2 hours ago · unknown ecosystem: no advisories");
    expect(page).toContain("1 of 3 components cannot be compared: 1 component of an unknown ecosystem.");
    expect(page).toContain("CVE-2026-0001");
    expect(await see("")).not.toContain("cannot be compared");
    const fresh = await world.get("/console/w/fresh/projects", await world.signIn("member@fresh"));
    expect(fresh.text).not.toContain("There are no advisories yet");
    expect(await advisories()).toContain(`${good}current</span>`);
  });

  test("a project whose SBOM is clean is called so only of what was compared", async () => {
    const other = await security.project("clean");
    await security.upload(other, ["pkg:npm/left-pad@1.3.0", "pkg:pypi/jinja2@2.0"]);
    await security.scan();
    const page = await see(`/projects/${other}`);
    expect(page).toContain("Nothing is open among the components that were compared.");
    expect(page).toContain("there are no advisories for PyPI (1 component)");
  });

  test("package URLs that cannot be read are told on the project's page, with the component and among the SBOM's warnings", async () => {
    const broken = await security.project("broken");
    const components = ["pkg:npm/left-pad@1.3.0", "pkg:npm/x@1?a=1&a=2"].map((purl) => ({ type: "library", name: "x", purl }));
    const sbom = toSbomRows(read({ bomFormat: "CycloneDX", specVersion: "1.6", components }));
    const parts = { sql: database.sql, clock: world.control.clock, notify: () => {} };
    const named = { workspace: security.workspace, project: broken, product: null, origin: null, filename: null };
    await storeSbom({ actor, ...named, sbom }, parts);
    await security.scan();
    expect(await see(`/projects/${broken}`)).toContain(
      "1 of 2 components cannot be compared: 1 component whose package URL cannot be read.",
    );
    const reason = "the package URL have the key";
    expect(await see(`/projects/${broken}/components`)).toContain(reason);
    const sboms = await see(`/projects/${broken}/sboms`);
    expect(sboms).toContain("Warnings about the current SBOM");
    expect(sboms).toContain(reason);
  });

  test("advisories older than a week are told with a warning", async () => {
    world.control.clock.advance(advisoryStaleMs);
    const browser = await world.signIn("member@acme");
    expect(await see(`/projects/${project}`, browser)).toContain(
      "The advisories for npm are older than 7 days: newer vulnerabilities are not found.",
    );
    const page = await world.get("/console/operator/advisories", await world.signIn(null));
    expect(page.text).toContain('<span class="badge warn">old</span>');
  });
});
