/** Corrected aliases: issues are merged and split, and no finding or decision is lost. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { requestScan } from "../../../src/security/scans/store.ts";
import { about, AdvisoryStore, criticalVector, scored } from "../../support/security/advisory-store.ts";
import { SecurityWorld } from "../../support/security/security-world.ts";
import { databases, type TestDatabase } from "../../support/servers/databases.ts";

const ghsa = "GHSA-aaaa-bbbb-cccc";
const cve = "CVE-2026-0001";

describe.each(databases)("aliases on $name", ({ open, runsAll }) => {
  let database: TestDatabase;
  let world: SecurityWorld;
  let store: AdvisoryStore;
  let project: string;
  beforeAll(async () => {
    database = await open();
    world = await SecurityWorld.open(database);
  }, 60_000);
  afterAll(() => database[Symbol.asyncDispose]());
  beforeEach(async () => {
    project = await world.onlyProject("shop");
    store = new AdvisoryStore(database.sql, () => world.clock.now());
    await world.upload(project, ["pkg:npm/lodash@1.0.0"]);
  });

  const publish = async (...records: Record<string, unknown>[]) => {
    const { scans } = await store.publish(...records);
    await world.scan();
    return scans;
  };
  const decide = async (issue: string, decision: { status: string; falsePositive?: boolean; day: number }) => {
    await database.sql`
      INSERT INTO triages (project_id, package_id, vulnerability_id, status, false_positive, note, decided_by, decided_at)
      SELECT ${project}, packages.id, ${(await store.idOf(issue)) ?? null}, ${decision.status}, ${decision.falsePositive ?? false},
        ${`decided of ${issue}`}, 'member@w', ${new Date(Date.UTC(2026, 0, decision.day))}
      FROM packages`;
    await database.sql.begin((tx) => requestScan({ project, at: new Date(world.clock.now()) }, tx));
    await world.scan();
  };
  const decisions = async () =>
    (
      await database.sql<{ line: string }[]>`
        SELECT concat_ws(' ', vulnerabilities.name, status, note) AS line FROM triages
        JOIN vulnerabilities ON vulnerabilities.id = vulnerability_id WHERE NOT ended ORDER BY line`
    ).map(({ line }) => line);

  test("removing, changing and restoring an alias splits and merges issues in the same import", async () => {
    const pysec = (aliases: string[]) => about("PYSEC-1", { aliases });
    await publish(about(ghsa, { aliases: [cve] }), pysec([cve]));
    expect(await store.groups()).toEqual([`${cve} ${ghsa} PYSEC-1`]);
    const id = await store.idOf(cve);
    await publish(pysec([]));
    expect(await store.groups()).toEqual([`${cve} ${ghsa}`, "PYSEC-1"]);
    await publish(pysec(["CVE-2026-0002"]));
    expect(await store.groups()).toEqual([`${cve} ${ghsa}`, "CVE-2026-0002 PYSEC-1"]);
    await publish(pysec([cve]));
    expect(await store.groups()).toEqual([`${cve} ${ghsa} PYSEC-1`]);
    expect(await store.idOf(cve)).toBe(id);
    expect(await world.findingLines(project)).toContain(`${cve} 1.0.0 open`);
  });

  if (!runsAll) return;

  test("a finding moves with its merged issue and keeps its id", async () => {
    await publish(about("PYSEC-1"), { ...about(cve, scored("CVSS_V3", criticalVector)), affected: [] });
    const [finding] = await world.findings(project);
    await store.publish(about("PYSEC-1", { aliases: [cve] }));
    expect(await database.sql`SELECT id, rank FROM findings`).toMatchObject([{ id: finding?.id, rank: 4098 }]);
    await world.scan();
    expect(await world.findings(project)).toMatchObject([{ id: finding?.id, name: cve, status: "open", present: true }]);
    expect(await world.events(finding?.id ?? "")).toContain(`scanner issue_followed cve_id PYSEC-1 ${cve}`);
  });

  test("two findings of merged issues both stay, and the present one shows the later decision", async () => {
    await publish(about("PYSEC-1"), about(ghsa, { aliases: [cve] }));
    await decide("PYSEC-1", { status: "ignored", day: 2 });
    await decide(cve, { status: "in_progress", day: 1 });
    expect(await world.findingLines(project)).toEqual([`${cve} 1.0.0 in_progress`, "PYSEC-1 1.0.0 ignored"]);
    await publish(about("PYSEC-1", { aliases: [cve] }));
    expect(await world.findingLines(project)).toEqual([`${cve} 1.0.0 ignored`, "PYSEC-1 1.0.0 resolved gone"]);
    expect(await decisions()).toEqual([`${cve} ignored decided of PYSEC-1`]);
    const events = await Promise.all((await world.findings(project)).map(({ id }) => world.events(id)));
    expect(events[0]?.at(-1)).toBe("scanner decision_followed status in_progress ignored");
    expect(events[1]?.at(-1)).toBe("scanner issue_joined status ignored resolved present true false");
  });

  test("the later decision applies, whichever issue continues", async () => {
    await publish(about("PYSEC-1"), about(ghsa, { aliases: [cve] }));
    await decide("PYSEC-1", { status: "ignored", day: 1 });
    await decide(cve, { status: "in_progress", day: 2 });
    await publish(about("PYSEC-1", { aliases: [cve] }));
    expect(await world.findingLines(project)).toContain(`${cve} 1.0.0 in_progress`);
    expect(await decisions()).toEqual([`${cve} in_progress decided of ${cve}`]);
  });

  test("merging three issues leaves one present finding and loses none", async () => {
    await publish(about("OSV-1"), about("OSV-2"), about("OSV-3"));
    await decide("OSV-3", { status: "open", falsePositive: true, day: 1 });
    await publish(about("GHSA-zzzz-zzzz-zzzz", { aliases: ["OSV-1", "OSV-2", "OSV-3"] }));
    expect(await store.groups()).toEqual(["GHSA-zzzz-zzzz-zzzz OSV-1 OSV-2 OSV-3"]);
    const findings = await world.findings(project);
    expect(findings).toHaveLength(3);
    expect(findings.filter(({ present }) => present)).toMatchObject([{ name: "GHSA-zzzz-zzzz-zzzz", falsePositive: true }]);
  });

  test("a decision stays with the issue that continues and applies to those that are split off", async () => {
    await publish(about("PYSEC-1", { aliases: [cve] }), about(ghsa, { aliases: [cve] }));
    await decide(cve, { status: "ignored", day: 1 });
    await publish(about("PYSEC-1", { aliases: [] }));
    expect(await world.findingLines(project)).toEqual([`${cve} 1.0.0 ignored`, "PYSEC-1 1.0.0 ignored"]);
    expect(await decisions()).toEqual([`${cve} ignored decided of ${cve}`, `PYSEC-1 ignored decided of ${cve}`]);
  });

  test("a released name can be used again, although findings of its former issue are kept", async () => {
    await publish(about("PYSEC-1"), about(ghsa, { aliases: [cve] }));
    await publish(about("PYSEC-1", { aliases: [cve] }));
    await publish(about("PYSEC-1", { aliases: [] }));
    expect(await store.groups()).toEqual([`${cve} ${ghsa}`, "PYSEC-1"]);
    expect((await world.findingLines(project)).filter((line) => !line.endsWith("gone"))).toEqual([
      `${cve} 1.0.0 open`,
      "PYSEC-1 1.0.0 open",
    ]);
  });

  test("an issue without records ends, and its findings stay and are resolved", async () => {
    await publish(about("GO-1", { aliases: [cve, "CVE-2026-0002"] }));
    expect(await world.findingLines(project)).toEqual([`${cve} 1.0.0 open`, "CVE-2026-0002 1.0.0 open"]);
    await publish(about("GO-1", { aliases: [cve] }));
    expect(await store.groups()).toEqual([`${cve} GO-1`]);
    expect(await world.findingLines(project)).toEqual([`${cve} 1.0.0 open`, "CVE-2026-0002 1.0.0 resolved gone"]);
  });

  test("ended issues without findings and decisions are deleted", async () => {
    await store.publish(about("PYSEC-1", { name: "left-pad" }), about(ghsa, { name: "left-pad" }));
    await store.publish(about("PYSEC-1", { name: "left-pad", aliases: [ghsa] }));
    expect(await database.sql`SELECT name FROM vulnerabilities`).toMatchObject([{ name: ghsa }]);
  });

  test("findings show the current rank of their issue", async () => {
    await publish(about(cve));
    await store.publish(about(cve, scored("CVSS_V3", criticalVector)));
    expect(await database.sql`SELECT rank FROM findings`).toMatchObject([{ rank: 4098 }]);
  });

  test("a record about another package that merges and splits issues changes the findings of this package", async () => {
    const bridge = (aliases: string[]) => about(cve, { name: "left-pad", aliases });
    await publish(about("OSV-1"), about("OSV-2", { aliases: [cve] }), bridge([]));
    expect(await world.findingLines(project)).toEqual([`${cve} 1.0.0 open`, "OSV-1 1.0.0 open"]);
    await publish(bridge(["OSV-1"]));
    expect(await world.findingLines(project)).toEqual([`${cve} 1.0.0 open`, "OSV-1 1.0.0 resolved gone"]);
    await publish(bridge([]));
    const present = (await world.findings(project)).filter((finding) => finding.present);
    expect(present.map(({ name }) => name)).toEqual([cve, "OSV-1"]);
  });

  test("an import requests scans only of projects with a package that a record affects or affected", async () => {
    await world.upload(await world.project("other"), ["pkg:npm/left-pad@1.0.0"]);
    await world.scan();
    expect(await publish(about("OSV-1"))).toBe(1);
    expect(await world.findingLines(project)).toEqual(["OSV-1 1.0.0 open"]);
    expect(await publish(about("OSV-1", { name: "left-pad" }))).toBe(2);
    expect(await world.findingLines(project)).toEqual(["OSV-1 1.0.0 resolved gone"]);
    expect(await publish(about("OSV-2", { name: "chalk" }))).toBe(0);
  });
});
