/**
 * A workspace with more of everything than a person looks at, written before its service starts: 10,000 keys, 200 members, 50 projects with
 * 10,000 findings. Every tenth name is as long as names may be and has no place to break, every tenth is written from right to left.
 */
import { join } from "node:path";
import type { Database } from "../../../src/backing/backing.ts";
import { openEmbeddedPostgres } from "../../../src/backing/embedded/postgres.ts";
import { systemClock } from "../../../src/kernel/clock.ts";
import { newKeyId } from "../../../src/kernel/ids.ts";
import { silentLog } from "../../../src/kernel/log.ts";
import { Control } from "../control.ts";
import { book, settlement } from "../gateway/settlements.ts";
import { ListWorld } from "../security/list-world.ts";
import { copyEmbeddedDatabase } from "../servers/prepared-databases.ts";

export const crowdName = "مؤسسة-" + "x".repeat(194);
export const crowdAdmin = "admin@crowd";
const keys = 10_000;
const members = 200;
const projects = 50;
const findings = 10_000;

/** Ids whose things have a long name. */
export interface Crowd {
  workspace: string;
  key: string;
  member: string;
  project: string;
  product: string;
  finding: string;
  vulnerability: string;
  generation: string;
}

/** A name of the length that names may have, one of another direction, or a usual one. */
export function crowdedName(kind: string, n: number): string {
  if (n % 10 === 0) return `${kind}-${n}-`.padEnd(200, "x");
  return n % 10 === 1 ? `\u202e${n} مشروع الإنتاج الطويل <b>` : `${kind} ${n}`;
}

/** The longest address that is accepted, for every tenth. */
const emailOf = (n: number): string => (n % 10 === 0 ? `m${n}-`.padEnd(60, "m") : `m${n}`) + "@example.test";

/** @param dataDir of the service, which does not run yet */
export async function writeCrowd(dataDir: string): Promise<Crowd> {
  const folder = join(dataDir, "postgres");
  await copyEmbeddedDatabase(folder);
  await using database = await openEmbeddedPostgres({ folder, clock: systemClock, log: silentLog });
  const { sql } = database;
  const control = new Control(sql);
  control.clock.advance(Date.now() - control.clock.now());
  const workspace = await control.workspace("crowd", "500");
  await sql`UPDATE workspaces SET name = ${crowdName} WHERE id = ${workspace}`;
  await insertMembers(workspace, sql);
  const key = await insertKeys(workspace, sql);
  const request = settlement({ workspace, key, admittedAt: Date.now() - 60_000, model: `stub/${"m".repeat(100)}` });
  await book(sql, request);
  return { workspace, key, member: emailOf(0), generation: request.generation, ...(await insertFindings(workspace, sql)) };
}

async function insertMembers(workspace: string, sql: Database): Promise<void> {
  const emails = Array.from({ length: members }, (_, n) => emailOf(n));
  await sql`INSERT INTO accounts (email) SELECT unnest(${emails}::text[])`;
  await sql`INSERT INTO members (workspace_id, email, role) SELECT ${workspace}, unnest(${emails}::text[]), 'member'`;
}

/** @returns the id of the newest, which stands first */
async function insertKeys(workspace: string, sql: Database): Promise<string> {
  const rows = Array.from({ length: keys }, (_, n) => ({ id: newKeyId(Date.now() - n * 1_000), name: crowdedName("Key", n) }));
  const column = (name: "id" | "name"): string[] => rows.map((row) => row[name]);
  await sql`
    INSERT INTO api_keys (id, workspace_id, owner_email, kind, name, hash, start, last_four)
    SELECT id, ${workspace}, ${emailOf(0)}, 'inference', name, sha256(id::bytea), 'platform-api-abc', 'wxyz'
    FROM unnest(${column("id")}::text[], ${column("name")}::text[]) AS new (id, name)`;
  return rows[0]?.id ?? "";
}

type CrowdedFindings = Pick<Crowd, "project" | "product" | "finding" | "vulnerability">;

/** Each project has each issue once, in a package of its own. */
async function insertFindings(workspace: string, sql: Database): Promise<CrowdedFindings> {
  const world = new ListWorld(sql);
  const product = await world.product(workspace, crowdedName("Product", 0));
  const perProject = findings / projects;
  const issues: { vulnerability: bigint; package: bigint }[] = [];
  const nameOf = (n: number): string => (n === 0 ? `GHSA-${"x".repeat(123)}` : `CVE-2026-${10_000 + n}`);
  for (let n = 0; n < perProject; n++) {
    // The first one stands first in each list.
    const more = { rank: n === 0 ? 4_100 : 1_000 + (n % 30) * 100, description: crowdedName("Issue", n) };
    const vulnerability = await world.vulnerability(nameOf(n), more);
    await sql`INSERT INTO vulnerability_names (name, vulnerability_id, shared) VALUES (${nameOf(n)}, ${vulnerability}, false)`;
    issues.push({ vulnerability, package: await world.package("npm", crowdedName("package", n)) });
  }
  const made: CrowdedFindings[] = [];
  for (let n = 0; n < projects; n++) {
    const project = await world.project(workspace, crowdedName("Project", n), n % 2 === 0 ? product : null);
    const version = n % 10 === 0 ? "1.".padEnd(200, "0") : `1.0.${n}`;
    const [finding = ""] = await world.find(issues.map((issue) => ({ project, version, ...issue })));
    made.push({ project, product, finding, vulnerability: nameOf(0) });
  }
  const [first] = made;
  if (first === undefined) throw new Error("The crowd has no projects");
  return first;
}
