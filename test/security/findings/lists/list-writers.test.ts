/** Concurrent writers of findings of one workspace: no writer waits for a running transaction, none deadlocks, and all findings are counted. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { withDeadline, systemClock } from "../../../../src/kernel/clock.ts";
import { Control } from "../../../support/control.ts";
import { databases, type TestDatabase } from "../../../support/servers/databases.ts";
import { listDifferences, ListWorld } from "../../../support/security/list-world.ts";
import { randomFrom } from "../../../support/random.ts";

/** The embedded database has one connection, so one writer at a time. */
const servers = databases.filter(({ name }) => name === "PostgreSQL");

describe.each(servers)("writers of findings on $name", ({ open }) => {
  let database: TestDatabase;
  let world: ListWorld;
  let product = "";
  const projects: string[] = [];
  const vulnerabilities: bigint[] = [];
  let npm = 0n;
  beforeAll(async () => {
    database = await open();
    world = new ListWorld(database.sql);
    const workspace = await new Control(database.sql).workspace("w");
    product = await world.product(workspace, "A");
    for (let n = 0; n < 6; n++) projects.push(await world.project(workspace, `p${n}`, n % 2 === 0 ? product : null));
    npm = await world.package("npm", "lodash");
    for (let n = 0; n < 40; n++) {
      vulnerabilities.push(await world.vulnerability(`CVE-2026-${1_000 + n}`, { rank: (n % 5) * 1_000 + (n % 7) }));
    }
  }, 60_000);
  afterAll(() => database[Symbol.asyncDispose]());

  const finding = (project: number, vulnerability: number, version: string) => ({
    project: projects[project] ?? "",
    package: npm,
    version,
    vulnerability: vulnerabilities[vulnerability % vulnerabilities.length] ?? 0n,
  });

  test("a writer does not wait for a running transaction that has written findings of the same kind", async () => {
    await database.sql.begin(async (tx) => {
      await world.find([finding(0, 1, "a"), finding(0, 2, "a")], tx);
      const other = world.find([finding(1, 2, "a"), finding(1, 1, "a")]);
      await withDeadline(systemClock, 1_500, "The other writer", other);
      await world.find([finding(0, 3, "a")], tx);
    });
    expect(await listDifferences(database.sql)).toEqual([]);
  });

  test("writers that change the same counts in any order end without a deadlock, and lists are exact", async () => {
    const writer = async (project: number): Promise<void> => {
      const chance = randomFrom(project);
      const below = (n: number) => Math.floor(chance() * n);
      for (let round = 0; round < 12; round++) {
        await database.sql.begin(async (tx) => {
          await tx`SELECT FROM projects WHERE id = ${projects[project] ?? ""} FOR UPDATE`;
          for (let statement = 0; statement < 3; statement++) {
            const drawn = Array.from({ length: 10 }, () => finding(project, below(1_000), `${below(3)}`));
            await world.find(drawn, tx);
            await tx`
              UPDATE findings SET status = ${["open", "ignored", "resolved"][below(3)] ?? ""}, rank = rank / 1000 * 1000 + ${below(7)}::integer
              WHERE project_id = ${projects[project] ?? ""} AND hashtext(id) % 5 = ${below(5)}`;
          }
          if (round % 5 === 4) await world.move(projects[project] ?? "", chance() < 0.5 ? product : null, tx);
        });
      }
    };
    await Promise.all(projects.map((_, project) => writer(project)));
    expect(await listDifferences(database.sql)).toEqual([]);
  }, 60_000);

  test("an occurrence that is written while its finding is triaged shows the decision", async () => {
    const { sql } = database;
    const [id = ""] = await world.find([finding(2, 39, "raced")]);
    const [row] = await sql<{ workspace: string }[]>`SELECT workspace_id AS workspace FROM projects LIMIT 1`;
    const sbom = await world.sbom(row?.workspace ?? "", projects[2] ?? "");
    let decided: Promise<unknown> = Promise.resolve();
    await sql.begin(async (tx) => {
      await world.occur(sbom, [id], tx);
      decided = sql`UPDATE findings SET status = 'ignored' WHERE id = ${id}`.execute();
    });
    await decided;
    expect(await sql`SELECT status FROM finding_sboms WHERE finding_id = ${id}`.then(([first]) => first?.["status"])).toBe(
      "ignored",
    );
    expect(await listDifferences(sql)).toEqual([]);
  });
});
