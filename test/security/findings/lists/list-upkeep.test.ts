/** The tables for lists agree with the findings after any changes in any order. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Transaction } from "../../../../src/backing/backing.ts";
import { Control } from "../../../support/control.ts";
import { databases, type TestDatabase } from "../../../support/servers/databases.ts";
import { listDifferences, ListWorld, statuses, type NewFinding } from "../../../support/security/list-world.ts";

const pick = <T>(list: readonly T[], n: number): T => list[n % list.length] as T;

const nat = fc.nat(1_000);
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("find" as const), project: nat, seed: nat, count: fc.nat(12) }) },
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant("triage" as const), of: nat, status: nat, falsePositive: fc.boolean() }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("rank" as const), vulnerability: nat, project: nat, rank: nat }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("rename" as const), vulnerability: nat, name: nat }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("move" as const), project: nat, product: nat }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("join" as const), from: nat, to: nat }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("delete" as const), of: nat }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("occur" as const), project: nat, of: nat }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("see" as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** Steps of one transaction, which may be rolled back. */
const transaction = fc.record({ steps: fc.array(step, { minLength: 1, maxLength: 4 }), back: fc.nat(5).map((n) => n === 0) });

describe.each(databases)("the tables for lists on $name", ({ open, runsAll }) => {
  let database: TestDatabase;
  let world: ListWorld;
  const stage = {
    projects: [] as { id: string; sbom: string }[],
    products: [] as (string | null)[],
    packages: [] as bigint[],
    vulnerabilities: [] as bigint[],
  };
  beforeAll(async () => {
    database = await open();
    world = new ListWorld(database.sql);
    const control = new Control(database.sql);
    const [one, other] = [await control.workspace("w"), await control.workspace("v")];
    stage.products = [null, await world.product(one, "A"), await world.product(one, "B")];
    for (const [n, workspace] of [one, one, one, other].entries()) {
      const id = await world.project(workspace, `p${n}`);
      stage.projects.push({ id, sbom: await world.sbom(workspace, id) });
    }
    for (const [n, ecosystem] of (["npm", "npm", "PyPI", "Maven"] as const).entries()) {
      stage.packages.push(await world.package(ecosystem, `package${n}`));
    }
    for (let n = 0; n < 9; n++) {
      stage.vulnerabilities.push(await world.vulnerability(`CVE-${2019 + n}-1${n}`, { rank: pick([0, 2050, 3075, 4098], n) }));
    }
  }, 60_000);
  afterAll(() => database[Symbol.asyncDispose]());

  const findingsOf = ({ project, seed, count }: { project: number; seed: number; count: number }): NewFinding[] =>
    Array.from({ length: count }, (_, n) => ({
      project: pick(stage.projects, project).id,
      package: pick(stage.packages, seed + n),
      version: String((seed + n) % 3),
      vulnerability: pick(stage.vulnerabilities, seed * 7 + n),
      status: pick(["open", "open", "in_progress", "ignored"] as const, seed + n),
    }));

  const steps: { [Kind in Step["kind"]]: (step: Extract<Step, { kind: Kind }>, tx: Transaction) => Promise<unknown> } = {
    find: (one, tx) => world.find(findingsOf(one), tx),
    triage: ({ of, status, falsePositive }, tx) => tx`
      UPDATE findings SET status = ${pick(statuses, status)}, false_positive = ${falsePositive}
      WHERE hashtext(id) % 7 = ${of % 7}`,
    rank: ({ vulnerability, project, rank }, tx) => tx`
      UPDATE findings SET rank = ${pick([0, 1020, 3075, 4100], rank)}
      WHERE vulnerability_id = ${pick(stage.vulnerabilities, vulnerability)} AND project_id = ${pick(stage.projects, project).id}`,
    rename: ({ vulnerability, name }, tx) => tx`
      UPDATE vulnerabilities SET name = ${`GHSA-${name}-${vulnerability}`}
      WHERE id = ${pick(stage.vulnerabilities, vulnerability)} AND NOT EXISTS (
        SELECT FROM vulnerabilities WHERE name = ${`GHSA-${name}-${vulnerability}`})`,
    move: ({ project, product }, tx) =>
      world.move(pick(stage.projects.slice(0, 3), project).id, pick(stage.products, product), tx),
    join: ({ from, to }, tx) => tx`
      UPDATE findings SET vulnerability_id = ${pick(stage.vulnerabilities, to)}
      WHERE vulnerability_id = ${pick(stage.vulnerabilities, from)} AND NOT EXISTS (
        SELECT FROM findings AS other WHERE (other.project_id, other.package_id, other.version, other.vulnerability_id) =
          (findings.project_id, findings.package_id, findings.version, ${pick(stage.vulnerabilities, to)}))`,
    delete: ({ of }, tx) => tx`DELETE FROM findings WHERE hashtext(id) % 5 = ${of % 5}`,
    occur: ({ project, of }, tx) => tx`
      INSERT INTO finding_sboms (sbom_id, finding_id)
      SELECT ${pick(stage.projects, project).sbom}, id FROM findings
      WHERE project_id = ${pick(stage.projects, project).id} AND hashtext(id) % 2 = ${of % 2} ON CONFLICT DO NOTHING`,
    see: (_, tx) => tx`UPDATE findings SET last_seen = last_seen + interval '1 second'`,
  };

  const runOperation = (one: Step, tx: Transaction) =>
    (steps[one.kind] as (one: Step, tx: Transaction) => Promise<unknown>)(one, tx);

  test("the tables are empty after the findings were truncated", async () => {
    await world.find(findingsOf({ project: 0, seed: 1, count: 9 }));
    await database.sql.begin(async (tx) => {
      await world.find(findingsOf({ project: 1, seed: 1, count: 9 }), tx);
      await tx`TRUNCATE findings CASCADE`;
      await world.find(findingsOf({ project: 2, seed: 1, count: 9 }), tx);
    });
    expect(await listDifferences(database.sql)).toEqual([]);
  });

  if (!runsAll) return;

  test("the tables equal a fresh count after any history of findings, triage, ranks, names, moves and deletions", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(transaction, { minLength: 3, maxLength: 12 }), async (history) => {
        for (const { steps: given, back } of history) {
          const whole = database.sql.begin(async (tx) => {
            for (const one of given) await runOperation(one, tx);
            if (back) throw new Error("taken back");
          });
          await whole.catch((error: Error) => expect(error.message).toBe("taken back"));
          expect(await listDifferences(database.sql)).toEqual([]);
        }
        await database.sql`DELETE FROM findings`;
        const left = await database.sql`
          SELECT (SELECT count(*) FROM finding_buckets) + (SELECT count(*) FROM scope_vulnerabilities)
            + (SELECT count(*) FROM vulnerability_buckets) AS rows`;
        expect(left[0]?.["rows"]).toBe(0n);
      }),
      { numRuns: 20 },
    );
  }, 60_000);
});
