/** The findings of scans after advisories changed. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
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
  test("several advisories of one issue give one finding that names every source", async () => {
    const listed = { versions: ["4.17.20"], ranges: undefined };
    await world.publish(
      { id: "GHSA-aaaa-bbbb-cccc", aliases: ["CVE-2026-0001"], affected: [{ ecosystem: "npm", name: "lodash", ...listed }] },
      lodash("OSV-7", { aliases: ["GHSA-aaaa-bbbb-cccc"] }),
    );
    await world.upload(project, [old]);
    await scan();
    const findings = await world.findings(project);
    expect(findings).toHaveLength(1);
    expect(findings[0]).toMatchObject({
      name: "CVE-2026-0001",
      evidence: {
        source: "OSV-7",
        sources: 2,
        more: [{ source: "GHSA-aaaa-bbbb-cccc", listed: "4.17.20", range: null, comparator: null }],
      },
    });
  });

  if (!runsAll) return;

  test("an advisory that names two CVEs is evidence of both, and they stay two issues", async () => {
    await world.publish(lodash("GHSA-aaaa-bbbb-cccc", { aliases: ["CVE-2026-0001", "CVE-2026-0002"] }));
    await world.upload(project, [old]);
    await scan();
    expect(await world.findingLines(project)).toEqual(["CVE-2026-0001 4.17.20 open", "CVE-2026-0002 4.17.20 open"]);
  });

  test("a withdrawn advisory resolves its findings, and publishing it again opens them", async () => {
    await world.publish(lodash("CVE-1"));
    await world.upload(project, [old]);
    await scan();
    await world.publish(lodash("CVE-1", { withdrawn: true }));
    expect(await world.scanState(project)).toMatchObject({ scan_status: "pending" });
    await scan();
    expect(await world.findingLines(project)).toEqual(["CVE-1 4.17.20 resolved gone"]);
    await world.publish(lodash("CVE-1"));
    await scan();
    const [finding] = await world.findings(project);
    expect(await world.events(finding?.id ?? "")).toEqual([
      "scanner found status null open",
      "scanner withdrawn status open resolved present true false",
      "scanner returned status resolved open present false true",
    ]);
  });

  test("withdrawing one of two advisories keeps the finding with the other evidence", async () => {
    const other = lodash("GHSA-aaaa-bbbb-cccc", { aliases: ["CVE-2026-0001"] });
    await world.publish(lodash("CVE-2026-0001"), other);
    await world.upload(project, [old]);
    await scan();
    await world.publish(lodash("CVE-2026-0001", { withdrawn: true }));
    await scan();
    const findings = await world.findings(project);
    expect(findings).toMatchObject([{ present: true, evidence: { source: "GHSA-aaaa-bbbb-cccc", sources: 1 } }]);
    expect(await world.events(findings[0]?.id ?? "")).toHaveLength(1);
  });

  test("an advisory with a new range changes fix and evidence without an event", async () => {
    await world.publish(lodash("CVE-1"));
    await world.upload(project, [old]);
    await scan();
    await world.publish(lodash("CVE-1", {}, fixedIn("5.0.0")));
    await scan();
    const findings = await world.findings(project);
    expect(findings).toMatchObject([{ fixVersion: "5.0.0", evidence: { comparator: ">= 0, < 5.0.0" } }]);
    expect(await world.events(findings[0]?.id ?? "")).toHaveLength(1);
    await world.publish(lodash("CVE-1", {}, fixedIn("4.0.0")));
    await scan();
    expect((await world.events(findings[0]?.id ?? "")).at(-1)).toBe(
      "scanner not_affected status open resolved present true false",
    );
  });

  test("a later advisory is matched against stored SBOMs", async () => {
    await world.upload(project, [old]);
    await scan();
    expect(await world.findingLines(project)).toEqual([]);
    await world.publish(lodash("CVE-1"));
    await scan();
    expect(await world.findingLines(project)).toEqual(["CVE-1 4.17.20 open"]);
  });

  test("unreadable, missing and endless versions give only unknown matches", async () => {
    const endless = "9".repeat(5_000) + "é".repeat(5_000);
    await world.publish(lodash("CVE-1"), { id: "CVE-2", affected: [{ ecosystem: "npm", name: "lodash", versions: ["1.0.0"] }] });
    await world.upload(project, [
      { purl: "pkg:npm/lodash", version: "latest" },
      { purl: "pkg:npm/lodash", version: null },
      { purl: "pkg:npm/lodash", version: endless },
    ]);
    await scan();
    expect(await world.findingLines(project)).toEqual([]);
    const unknowns = await world.unknowns(project);
    expect(unknowns).toHaveLength(6);
    expect(unknowns.map(({ reason }) => reason)).toEqual(
      expect.arrayContaining([
        'CVE-1: "latest" is not a version of npm',
        'CVE-2: "latest" is not a version of npm',
        "CVE-1: the document names no version",
        `CVE-1: "${"9".repeat(40)}…" is longer than 1024 characters`,
      ]),
    );
    expect(unknowns.every(({ version }) => version.length < 120)).toBe(true);
    await world.upload(project, [old]);
    await scan();
    expect(await world.unknowns(project)).toEqual([]);
  });

  test("the custom ranges of a Go advisory are shown and do not narrow the match", async () => {
    const custom = [{ type: "ECOSYSTEM", events: [{ introduced: "9.0.0" }] }];
    const affected = [{ ecosystem: "Go" as const, name: "example.com/m", ranges: fixedIn("1.2.0"), custom_ranges: custom }];
    await world.publish({ id: "GO-1", affected });
    await world.upload(project, ["pkg:golang/example.com/m@v1.0.0%2Bincompatible"]);
    await scan();
    expect(await world.findings(project)).toMatchObject([{ evidence: { source: "GO-1", custom_ranges: custom } }]);
  });
});
