/** The findings of scans: they follow the project's current SBOM and the decisions of people. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { selectComponentPage } from "../../../../src/security/projects/inventory-store.ts";
import { databases, type TestDatabase } from "../../../support/servers/databases.ts";
import { fixedIn, lodash, SecurityWorld } from "../../../support/security/security-world.ts";

const old = "pkg:npm/lodash@4.17.20";

describe.each(databases)("a scan on $name", ({ open, runsAll }) => {
  let database: TestDatabase;
  let world: SecurityWorld;
  let project: string;
  beforeAll(async () => {
    database = await open();
    world = await SecurityWorld.open(database);
  }, 60_000);
  afterAll(() => database[Symbol.asyncDispose]());
  beforeEach(async () => {
    project = await world.onlyProject("shop");
  });
  const scan = () => world.scan();
  const decide = (status: string, falsePositive = false) => database.sql`
    INSERT INTO triages (project_id, package_id, vulnerability_id, status, false_positive, decided_by, decided_at)
    SELECT project_id, package_id, vulnerability_id, ${status}, ${falsePositive}, 'member@w', ${new Date(world.clock.now())}
    FROM findings WHERE project_id = ${project}
    ON CONFLICT (project_id, package_id, vulnerability_id, version) DO UPDATE SET status = excluded.status, false_positive = excluded.false_positive`;

  test("a new finding is open, with evidence, fix, SBOM and first event", async () => {
    await world.publish(lodash("CVE-1"));
    const sbom = await world.upload(project, [old]);
    await scan();
    const [finding] = await world.findings(project);
    expect(finding).toMatchObject({
      name: "CVE-1",
      version: "4.17.20",
      status: "open",
      present: true,
      fixVersion: "4.17.21",
      evidence: { source: "CVE-1", range: "introduced 0, fixed 4.17.21", comparator: ">= 0, < 4.17.21", listed: null, more: [] },
    });
    expect(await world.events(finding?.id ?? "")).toEqual(["scanner found status null open"]);
    expect(await database.sql`SELECT sbom_id FROM finding_sboms`).toEqual([{ sbom_id: sbom }] as never);
    expect(await world.scanState(project)).toMatchObject({ scan_status: "completed", scan_attempts: 0 });
  });

  if (!runsAll) return;

  test("a record without a fix is about the versions that GitHub last knew as affected, and its finding says so", async () => {
    const ranges = [{ type: "SEMVER", events: [{ introduced: "0" }] }];
    await world.publish({ id: "GHSA-1", affected: [{ ecosystem: "npm", name: "lodash", ranges, lastKnown: "<= 4.17.20" }] });
    await world.upload(project, [old, "pkg:npm/lodash@5.0.0"]);
    await scan();
    expect(await world.findings(project)).toMatchObject([
      {
        version: "4.17.20",
        fixVersion: null,
        evidence: { range: "introduced 0, last known affected <= 4.17.20", comparator: ">= 0, <= 4.17.20" },
      },
    ]);
  });

  test.each([
    ["Go", "pkg:golang/github.com/fle/mod@v1.4.0", "pkg:golang/github.com/fle/mod@1.4.0", "github.com/fle/mod"],
    ["PyPI", "pkg:pypi/fle@1.0", "pkg:pypi/fle@1.0.0", "fle"],
    ["Maven", "pkg:maven/org.fle/core@1.0.0", "pkg:maven/org.fle/core@1.0.Final", "org.fle:core"],
    ["RubyGems", "pkg:gem/fle@1.0.0", "pkg:gem/fle@1.0.0-x86_64-linux", "fle"],
  ] as const)(
    "a version of %s in two spellings is one finding, also when another SBOM spells it otherwise",
    async (ecosystem, one, other, name) => {
      await world.publish({
        id: "CVE-1",
        affected: [{ ecosystem, name, ranges: [{ type: "ECOSYSTEM", events: [{ introduced: "0" }] }] }],
      });
      await world.upload(project, [one, other]);
      await scan();
      const [finding, ...more] = await world.findings(project);
      expect([finding?.name, more]).toEqual(["CVE-1", []]);
      for (const purl of [other, one]) {
        await world.upload(project, [purl]);
        await scan();
        expect(await world.findings(project)).toMatchObject([
          { id: finding?.id, version: finding?.version, present: true, status: "open" },
        ]);
      }
      const filter = { text: null, license: null, relation: null, vulnerable: true } as const;
      const sbom = await world.upload(project, [one, other]);
      await scan();
      const page = await selectComponentPage({ project, sbom, filter, page: { limit: 10, offset: 0 } }, database.sql);
      expect(page.map(({ vulnerabilities }) => vulnerabilities)).toEqual([1]);
      await world.upload(project, []);
      await scan();
      expect(await world.findings(project)).toMatchObject([{ id: finding?.id, present: false }]);
    },
  );

  test("20,000 components of one package in different spellings of name and version are one finding of one version", async () => {
    const ranges = [{ type: "ECOSYSTEM", events: [{ introduced: "0" }, { fixed: "2" }] }];
    await world.publish({ id: "CVE-1", affected: [{ ecosystem: "PyPI", name: "fle-core", ranges }] });
    const names = ["fle-core", "FLE_core", "Fle.Core", "fle--core"];
    const purls = Array.from({ length: 20_000 }, (_, index) => {
      const version = `${"0".repeat(Math.floor(index / 4) % 50)}1${".0".repeat(Math.floor(index / 200))}`;
      return `pkg:pypi/${names[index % 4] ?? ""}@${version}`;
    });
    expect(new Set(purls).size).toBe(20_000);
    await world.upload(project, purls);
    await scan();
    expect(await world.scanState(project)).toMatchObject({ scan_status: "completed", scan_attempts: 0 });
    expect(await world.findings(project)).toMatchObject([{ name: "CVE-1", fixVersion: "2", present: true }]);
  });

  test("ten scans of the same SBOM keep every id and write no event", async () => {
    await world.publish(lodash("CVE-1"), lodash("CVE-2"));
    await world.upload(project, [old]);
    await scan();
    const before = await world.findings(project);
    for (let round = 0; round < 10; round++) {
      await world.upload(project, [old]);
      await scan();
    }
    expect(await world.findings(project)).toEqual(before);
    const [events] = await database.sql`SELECT count(*)::integer AS count FROM finding_events`;
    expect(events?.["count"]).toBe(2);
    const [seen] = await database.sql`SELECT bool_and(last_seen > first_seen) AS later FROM findings`;
    expect(seen?.["later"]).toBe(true);
  });

  test("a finding that is gone from the current SBOM is resolved, and opens when it returns", async () => {
    await world.publish(lodash("CVE-1"));
    const first = await world.upload(project, [old]);
    await scan();
    const [before] = await world.findings(project);
    await world.upload(project, ["pkg:npm/lodash@4.17.21"]);
    await scan();
    expect(await world.findingLines(project)).toEqual(["CVE-1 4.17.20 resolved gone"]);
    const third = await world.upload(project, [old]);
    await scan();
    expect(await world.findingLines(project)).toEqual(["CVE-1 4.17.20 open"]);
    expect((await world.findings(project))[0]?.id).toBe(before?.id ?? "");
    expect(await world.events(before?.id ?? "")).toEqual([
      "scanner found status null open",
      "scanner component_gone status open resolved present true false",
      "scanner returned status resolved open present false true",
    ]);
    const sboms = await database.sql`SELECT sbom_id FROM finding_sboms ORDER BY sbom_id`;
    expect(sboms.map(({ sbom_id: id }) => String(id))).toEqual([first, third].toSorted());
  });

  test.each([
    ["ignored", false, "CVE-1 4.17.20 ignored"],
    ["open", true, "CVE-1 4.17.20 open false positive"],
    ["in_progress", false, "CVE-1 4.17.20 in_progress"],
    ["resolved", false, "CVE-1 4.17.20 open"],
  ])(
    "a finding triaged as %s (false positive: %p) returns with that decision, unless it was called resolved",
    async (status, wrong, back) => {
      await world.publish(lodash("CVE-1"));
      await world.upload(project, [old]);
      await scan();
      await decide(status, wrong);
      await world.upload(project, []);
      await scan();
      expect((await world.findingLines(project))[0]).toStartWith("CVE-1 4.17.20 resolved");
      await world.upload(project, [old]);
      await scan();
      expect(await world.findingLines(project)).toEqual([back]);
    },
  );

  test.each([
    ["ignored", false, "ignored"],
    ["open", true, "open false positive"],
    ["in_progress", false, "in_progress"],
    ["resolved", false, "open"],
  ])("a new version gets the decision %s (false positive: %p), unless it was called resolved", async (status, wrong, taken) => {
    await world.publish(lodash("CVE-1"));
    await world.upload(project, ["pkg:npm/lodash@4.17.19"]);
    await scan();
    await decide(status, wrong);
    await world.upload(project, [old]);
    await scan();
    const [gone, there] = await world.findingLines(project);
    expect(gone).toStartWith("CVE-1 4.17.19 resolved");
    expect(there).toBe(`CVE-1 4.17.20 ${taken}`);
  });

  test("a finding that a person resolved stays resolved while nothing changes", async () => {
    await world.publish(lodash("CVE-1"));
    await world.upload(project, [old]);
    await scan();
    await decide("resolved");
    for (let round = 0; round < 3; round++) {
      await world.upload(project, [old]);
      await scan();
      expect(await world.findingLines(project)).toEqual(["CVE-1 4.17.20 resolved"]);
    }
  });

  test("the root is matched too, and each version of a package is matched once, however many components have it", async () => {
    await world.publish(lodash("CVE-1"));
    await world.upload(project, [{ purl: old, relation: "root" }, old, "pkg:npm/lodash@4.17.19", old]);
    await scan();
    expect(await world.findingLines(project)).toEqual(["CVE-1 4.17.19 open", "CVE-1 4.17.20 open"]);
  });

  test("findings get the new product of their project and the new rank of their issue", async () => {
    await world.publish(lodash("CVE-1"));
    await world.upload(project, [old]);
    await scan();
    const at = new Date(world.clock.now());
    await database.sql`INSERT INTO products (id, workspace_id, name, created_at) VALUES ('prd_x', ${world.workspace}, ${project}, ${at})`;
    await database.sql`UPDATE projects SET product_id = 'prd_x' WHERE id = ${project}`;
    await database.sql`UPDATE vulnerabilities SET rank = 4098`;
    await world.upload(project, []);
    await scan();
    expect(await database.sql`SELECT product_id, rank FROM findings`).toEqual([{ product_id: "prd_x", rank: 4098 }] as never);
  });

  test("three hundred packages with six hundred issues are written in several transactions without loss", async () => {
    const names = Array.from({ length: 300 }, (_, index) => `package-${index}`);
    await world.publish(
      ...names.map((name, index) => ({
        id: `OSV-${index}`,
        aliases: [`CVE-2026-${1_000 + index}`, `CVE-2027-${1_000 + index}`],
        affected: [{ ecosystem: "npm" as const, name, ranges: fixedIn("2.0.0") }],
      })),
    );
    await world.upload(
      project,
      names.map((name) => `pkg:npm/${name}@1.0.0`),
    );
    await scan();
    const [count] =
      await database.sql`SELECT count(*)::integer AS findings, count(DISTINCT vulnerability_id)::integer AS issues FROM findings`;
    expect({ ...count }).toEqual({ findings: 600, issues: 600 });
    await world.upload(project, []);
    await scan();
    const [open] = await database.sql`SELECT count(*)::integer AS count FROM findings WHERE status <> 'resolved'`;
    expect(open?.["count"]).toBe(0);
  }, 60_000);
});
