/** A project's findings as a VEX document, and its figures, are read in pages; an import decides in small transactions. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { systemClock, type Clock } from "../../../../src/kernel/clock.ts";
import { vexFindingsMax, vexRowsPerPage, vexTriagedMax } from "../../../../src/security/findings/limits.ts";
import { noFinding } from "../../../../src/security/findings/lists/list-store.ts";
import { ExportTurns, exportVex } from "../../../../src/security/findings/vex/export-vex.ts";
import { importVex } from "../../../../src/security/findings/vex/import-vex.ts";
import { selectLiveCounts, selectVersionAfter, type VersionPlace } from "../../../../src/security/projects/content-store.ts";
import { ManualClock } from "../../../support/clock.ts";
import { failureOf } from "../../../support/failure-of.ts";
import { randomFrom } from "../../../support/random.ts";
import { ListWorld, statuses, type NewFinding } from "../../../support/security/list-world.ts";
import { toolsStage, type ToolsStage } from "../../../support/security/tools-api.ts";
import { oneDatabase } from "../../../support/servers/databases.ts";

const ranks = [4_098, 3_075, 2_050, 1_021, 0];
const packages = 3;
const versions = 130;

describe.each(oneDatabase)("a project of many findings on $name", ({ open }) => {
  let stage: ToolsStage;
  let project = "";

  beforeAll(async () => {
    stage = await toolsStage(open);
    const world = new ListWorld(stage.database.sql);
    project = await world.project(stage.workspace, "large");
    const other = await world.project(stage.workspace, "other");
    const ids = await Promise.all(Array.from({ length: packages }, (_, n) => world.package("npm", `part-${n}`)));
    const issues: bigint[] = [];
    for (const [index, rank] of ranks.entries()) issues.push(await world.vulnerability(`CVE-2024-${9_000 - index}`, { rank }));
    const chance = randomFrom(5);
    const findings: NewFinding[] = ids.flatMap((id) =>
      Array.from({ length: versions }, (_, version) => version).flatMap((version) =>
        issues.map((vulnerability) => ({
          project: chance() < 0.05 ? other : project,
          package: id,
          version: `1.${version}`,
          vulnerability,
          status: statuses[Math.floor(chance() * 4)] ?? "open",
          falsePositive: chance() < 0.2,
        })),
      ),
    );
    await world.find(findings);
  });

  afterAll(() => stage[Symbol.asyncDispose]());

  test("an export has each finding once, the most severe first, and leaves out what is gone", async () => {
    const { sql } = stage.database;
    await sql`UPDATE findings SET present = false WHERE project_id = ${project} AND version = '1.7'`;
    const found = await sql<{ name: string; purl: string }[]>`
      SELECT vulnerabilities.name, purl FROM findings JOIN vulnerabilities ON vulnerabilities.id = vulnerability_id
      WHERE project_id = ${project} AND present`;
    expect(found.length).toBeGreaterThan(2 * vexRowsPerPage);
    const { vulnerabilities, components } = await exportVex(
      { project, format: "cyclonedx" },
      { sql, clock: systemClock, publicUrl: "https://weir.test" },
    );
    const told = vulnerabilities.flatMap(({ id, affects }) => affects.map(({ ref }) => `${id} ${ref}`));
    expect(told.toSorted()).toEqual(found.map(({ name, purl }) => `${name} ${purl}`).toSorted());
    const names = ranks.map((_, index) => `CVE-2024-${9_000 - index}`);
    expect([...new Set(vulnerabilities.map(({ id }) => id))]).toEqual(names);
    expect(components.map(({ purl }) => purl).toSorted()).toEqual([...new Set(found.map(({ purl }) => purl))].toSorted());
    expect(vexFindingsMax).toBeGreaterThan(found.length);
  });

  test("the database serves others while an export is written", async () => {
    // One connection answers in the order of the questions, so it answers others only between the export's statements.
    const connection = await stage.database.sql.reserve();
    let isDone = false;
    const exported = exportVex(
      { project, format: "cyclonedx" },
      { sql: connection, clock: systemClock, publicUrl: "https://weir.test" },
    ).finally(() => (isDone = true));
    let served = 0;
    for (; !isDone; served++) await connection`SELECT 1`;
    await exported;
    connection.release();
    expect(served).toBeGreaterThan(3);
  });

  test("the figures of a project are the same in pages of any size", async () => {
    const { sql } = stage.database;
    const [plain] = await sql`
      SELECT (count(DISTINCT (package_id, version)) FILTER (WHERE live))::integer AS "vulnerableComponents",
        (count(*) FILTER (WHERE live AND fix_version IS NOT NULL))::integer AS fixable FROM findings WHERE project_id = ${project}`;
    for (const limit of [1, 7, 100, 10_000]) {
      const sum = { vulnerableComponents: 0, fixable: 0 };
      for (let after: VersionPlace | null = noFinding; after !== null;) {
        const last: VersionPlace | null = await selectVersionAfter({ project, after, limit }, sql);
        const page = await selectLiveCounts({ project, after, last }, sql);
        sum.vulnerableComponents += page.vulnerableComponents;
        sum.fixable += page.fixable;
        after = last;
      }
      expect(sum).toEqual({ ...plain } as typeof sum);
    }
  });
});

/** More findings of a project than a transaction changes, and a document that decides about them. */
async function decision({ database: { sql }, workspace }: ToolsStage, said: object) {
  const world = new ListWorld(sql);
  const project = await world.project(workspace, "shop");
  const [id, vulnerability] = [await world.package("npm", "part"), await world.vulnerability("CVE-2024-1000")];
  await sql`INSERT INTO vulnerability_names (name, vulnerability_id, shared) VALUES ('CVE-2024-1000', ${vulnerability}, false)`;
  const found = Array.from({ length: 2 * vexTriagedMax + 30 }, (_, version) => `1.${version}`);
  await world.find(found.map((version) => ({ project, package: id, version, vulnerability })));
  const vulnerabilities = [{ id: "CVE-2024-1000", ...said }];
  const bytes = Buffer.from(JSON.stringify({ bomFormat: "CycloneDX", vulnerabilities }));
  return { project, found, given: { actor: { kind: "operator" } as const, workspace, project, bytes } };
}

describe.each(oneDatabase)("an import on $name", ({ open }) => {
  test("decides about a package in a document, and all versions of it follow, in transactions that let others in", async () => {
    await using stage = await toolsStage(open);
    const { sql } = stage.database;
    const affects = [{ ref: "pkg:npm/part" }];
    const { project, found, given } = await decision(stage, { analysis: { state: "resolved", detail: "patched" }, affects });
    const updated = { statements: 1, unmatched: 0, unmatched_first: [] };
    expect(await importVex(given, { sql, clock: systemClock })).toEqual({ ...updated, updated: found.length, unchanged: 0 });
    const statuses = await sql`SELECT DISTINCT status FROM findings WHERE project_id = ${project}`;
    expect(statuses.map(({ status }) => status)).toEqual(["resolved"]);
    const commits = await sql`SELECT DISTINCT xmin::text FROM findings WHERE project_id = ${project}`;
    expect(commits).toHaveLength(3);
    expect(await importVex(given, { sql, clock: systemClock })).toEqual({ ...updated, updated: 0, unchanged: found.length });
  });

  test("ends where somebody else undoes each of its transactions", async () => {
    await using stage = await toolsStage(open);
    const { sql } = stage.database;
    const affects = [{ ref: "pkg:npm/part" }];
    const { project, given } = await decision(stage, { analysis: { state: "resolved" }, affects });
    let [ms, undone] = [0, 0];
    const undo = async () => {
      if (++undone <= 20) await sql`UPDATE findings SET status = 'open' WHERE project_id = ${project}`;
    };
    const contested: Clock = {
      now: () => systemClock.now(),
      monotonic: () => (ms += 5),
      after(_ms, run) {
        void undo().then(run);
        return () => {};
      },
      endOfTurn: (run) => systemClock.endOfTurn(run),
    };
    expect(await failureOf(importVex(given, { sql, clock: contested }))).toMatchObject({ code: "conflict" });
    expect(undone).toBe(4);
  });
});

describe("exports at once", () => {
  const [acme, other, third] = ["ws-acme", "ws-other", "ws-third"] as const;

  test("a person has one and one that waits, a workspace one and a process two", async () => {
    const turns = new ExportTurns(new ManualClock());
    const begun: string[] = [];
    const begin = (name: string, person: string, workspace: string = acme) =>
      turns.acquire({ person, workspace }).then((turn) => {
        begun.push(name);
        return turn;
      });
    const first = await begin("first", "a@acme");
    const second = begin("second", "a@acme");
    expect(await failureOf(begin("refused", "a@acme"))).toHaveProperty("status", 429);
    const colleague = begin("colleague", "b@acme");
    const elsewhere = await begin("elsewhere", "c@other", other);
    const waiting = begin("waiting", "d@third", third);
    expect(begun).toEqual(["first", "elsewhere"]);
    first[Symbol.dispose]();
    await Promise.race([colleague, waiting]);
    elsewhere[Symbol.dispose]();
    for (const turn of [colleague, waiting, second]) void turn.then((one) => one[Symbol.dispose]());
    await Promise.all([colleague, waiting, second]);
    expect(begun.toSorted()).toEqual(["colleague", "elsewhere", "first", "second", "waiting"]);
  });
});
