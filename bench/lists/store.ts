/** All SQL of the lists part: the loaded data, and the naive queries that check the answers. */
import type postgres from "postgres";
import { newToolsId } from "../../src/kernel/ids.ts";
import * as plan from "./plan.ts";

type Queries = postgres.ISql;

/** A number from 0 to below 1, determined by `n` and `salt`. */
function chance(n: string, salt: number, sql: Queries) {
  return sql`((hashint8extended((${sql.unsafe(n)})::bigint, ${plan.seed + salt}) & 1048575) / 1048576.0)`;
}

/** Chooses a value by its weight from a number from 0 to 1. */
function weighted(weights: readonly (readonly [string | number, number])[], of: ReturnType<typeof chance>, sql: Queries) {
  const total = weights.reduce((sum, [, weight]) => sum + weight, 0);
  let upto = 0;
  const bounds = weights.slice(0, -1).map(([, weight]) => (upto += weight) / total);
  return sql`(${weights.map(([word]) => String(word))}::text[])[1 + width_bucket(${of}::float8, ${bounds}::float8[])]`;
}

export async function insertKnown(sql: Queries): Promise<void> {
  for (const { workspace, name } of plan.inventories) await sql`INSERT INTO workspaces (id, name) VALUES (${workspace}, ${name})`;
  await insertProducts(plan.inventories, sql);
  await insertPackages(sql);
}

export async function insertProducts(inventories: readonly plan.Inventory[], sql: Queries): Promise<void> {
  for (const inventory of inventories) {
    const ids = Array.from({ length: plan.products }, (_, n) => productId(inventory, n + 1));
    await sql`
      INSERT INTO products (id, workspace_id, name, created_at)
      SELECT id, ${inventory.workspace}, 'Product ' || n, now() FROM unnest(${ids}::text[]) WITH ORDINALITY AS product (id, n)`;
  }
}

export async function insertPackages(sql: Queries): Promise<void> {
  await sql`
    INSERT INTO packages (ecosystem, key, name)
    SELECT ${weighted(plan.ecosystemWeights, chance("n", 1, sql), sql)}, name, name FROM (
      SELECT n, (ARRAY['@scope/', 'org.example.group:', 'github.com/owner/', '', '', ''])[1 + n % 6] || 'library-' || n AS name
      FROM generate_series(1, ${plan.packages}::integer) AS n
    ) AS named`;
}

export async function insertVulnerabilities(sql: Queries): Promise<void> {
  await sql`
    INSERT INTO vulnerabilities (name, severity, score, rank, description, withdrawn)
    SELECT name, (ARRAY[NULL, 'low', 'medium', 'high', 'critical'])[1 + rank / 1000], nullif(rank % 1000, 0) / 10.0, rank,
      'A crafted ' || (ARRAY['request', 'archive', 'header', 'regular expression', 'document'])[1 + n % 5] || ' lets an attacker ' ||
      (ARRAY['read files outside of the folder', 'run code of their choice', 'stop the service', 'read the sessions of others'])[1 + n % 4]
      || ' where input is not checked in versions before the fixed one of library-' || n % ${plan.packages}::integer, false
    FROM (
      SELECT n, ${weighted(plan.rankWeights, chance("n", 2, sql), sql)}::smallint AS rank, CASE
        WHEN ${chance("n", 3, sql)} < 0.75 THEN 'CVE-' || 2002 + floor(25 * sqrt(${chance("n", 4, sql)}))::integer || '-' || 1000 + n
        WHEN n % 2 = 0 THEN 'GO-' || 2020 + n % 7 || '-' || lpad(n::text, 6, '0')
        ELSE 'GHSA-' || substr(md5(n::text), 1, 4) || '-' || substr(md5(n::text), 5, 4) || '-' || lpad(to_hex(n), 5, '0') END AS name
      FROM generate_series(1, ${plan.scored.issues.count}::integer) AS n
    ) AS drawn
    ORDER BY n`;
  const { first, count } = plan.unscored.issues;
  const { first: month, count: months } = plan.publicationRanks;
  await sql`
    INSERT INTO vulnerabilities (name, rank, description, withdrawn)
    SELECT 'GO-' || 2020 + n % 7 || '-' || n, CASE WHEN n % 3 = 0 THEN 0 ELSE ${month}::integer + n % ${months}::integer END,
      'Modules of this name do not check what they are sent', false
    FROM generate_series(${first}::integer, ${first + count - 1}::integer) AS n
    ORDER BY n`;
}

/** @returns the numbers of the projects that are loaded */
export async function loadedProjects(sql: Queries): Promise<Set<number>> {
  const rows = await sql<
    { number: number }[]
  >`SELECT substr(name, 9)::integer AS number FROM projects WHERE id LIKE 'prj_lists%'`;
  return new Set(rows.map(({ number }) => number));
}

export function projectId(number: number): string {
  return plan.listId("prj", "lists", number);
}

export function productId({ name }: plan.Inventory, number: number): string {
  return plan.listId("prd", name, number);
}

/** The newest document of a project. */
export function sbomId(number: number): string {
  return plan.listId("sbom", "listsb", number);
}

/** Inserts a project with two documents. A third of the projects belongs to no product. */
export async function insertProject({ number, inventory }: plan.ProjectOfInventory, sql: Queries): Promise<void> {
  const id = projectId(number);
  await sql`
    INSERT INTO projects (id, workspace_id, product_id, name, provider, created_at)
    VALUES (${id}, ${inventory.workspace}, ${number % 3 === 0 ? null : productId(inventory, 1 + (number % plan.products))}, ${`Project ${number}`},
      'upload', now())`;
  await sql`
    INSERT INTO sboms (id, workspace_id, project_id, sha256, digest, format, spec_version, encoding, components, created_by, created_at)
    SELECT id, ${inventory.workspace}, ${id}, decode(md5(n::text), 'hex'), '', 'CycloneDX', '1.6',
      'json', 1000, 'bench', now()
    FROM unnest(${[plan.listId("sbom", "listsa", number), sbomId(number)]}::text[]) WITH ORDINALITY AS document (id, n)`;
}

export interface Portion {
  project: plan.ProjectOfInventory;
  /** The first finding within the project, counted from 0. */
  from: number;
  count: number;
  /** The first finding among all findings, counted from 0. */
  first: number;
  at: Date;
  /** Milliseconds between two writes of a scan. */
  apartMs: number;
}

/** Every second finding takes the issues in order; the others take frequent issues. */
export async function insertFindings({ project, from, count, first, at, apartMs }: Portion, sql: Queries): Promise<void> {
  const { first: firstIssue, count: issues } = project.inventory.issues;
  const batches = Math.ceil(count / plan.scanFindings);
  const times = Array.from({ length: batches }, (_, batch) => newToolsId("fnd", at.getTime() + batch * apartMs).slice(0, 13));
  const status = [
    ["open", 62],
    ["resolved", 25],
    ["ignored", 8],
    ["in_progress", 5],
  ] as const;
  await sql`
    INSERT INTO findings (id, workspace_id, product_id, project_id, package_id, version, version_key, vulnerability_id, component, purl, status,
      false_positive, present, rank, fix_version, evidence, first_seen, last_seen)
    SELECT (${times}::text[])[1 + (n - ${first}) / ${plan.scanFindings}::integer] || translate(substr(md5(${plan.seed} || ' ' || n), 1, 17), '0189', 'wxyz'), projects.workspace_id, product_id, projects.id,
      packages.id, version, version, vulnerabilities.id, packages.name, 'pkg:generic/' || packages.name || '@' || version,
      ${weighted(status, chance("n", 5, sql), sql)}, ${chance("n", 6, sql)} < 0.03, true, rank,
      CASE WHEN n % 7 <> 0 THEN '9.' || n % 50 || '.1' END,
      jsonb_build_object('source', vulnerabilities.name, 'range', 'introduced 0, fixed 9.' || n % 50 || '.1'), ${at}, ${at}
    FROM (
      SELECT n, n % 9 || '.' || n % 40 || '.' || n - ${first} + ${from} AS version, ${firstIssue}::integer + CASE WHEN n % 2 = 0
        THEN (n / 2) % ${issues}::integer
        ELSE floor(${issues}::integer * power(${chance("n", 7, sql)}, 3))::integer END AS issue
      FROM generate_series(${first}::integer, ${first + count - 1}::integer) AS n
    ) AS drawn
    JOIN projects ON projects.id = ${projectId(project.number)}
    JOIN vulnerabilities ON vulnerabilities.id = issue
    JOIN packages ON packages.id = 1 + issue % ${plan.packages}::integer`;
}

/** The newest document has the newest findings, up to the limit of a document. The older one has most of these. */
export async function insertOccurrences(project: number, sql: Queries): Promise<void> {
  await sql`
    INSERT INTO finding_sboms (sbom_id, finding_id)
    SELECT sboms.id, newest.id FROM sboms CROSS JOIN (
      SELECT id FROM findings WHERE project_id = ${projectId(project)} ORDER BY id DESC LIMIT ${plan.sbomFindingsMax}) AS newest
    WHERE sboms.project_id = ${projectId(project)} AND (sboms.id = ${sbomId(project)} OR hashtext(newest.id) % 5 <> 0)`;
}

export async function deleteProject(project: number, sql: Queries): Promise<void> {
  const id = projectId(project);
  await sql`DELETE FROM findings WHERE project_id = ${id}`;
  await sql`DELETE FROM sboms WHERE project_id = ${id}`;
  await sql`DELETE FROM projects WHERE id = ${id}`;
}

/** Makes the server send the durations of statements as notices, in the format of its log. */
export async function reportDurations(sql: Queries): Promise<void> {
  await sql`SELECT set_config('log_duration', 'on', false), set_config('client_min_messages', 'log', false)`;
}

export interface NaiveFilter {
  /** A column of findings with its value, or a document. */
  place: { column: "workspace_id" | "product_id" | "project_id"; id: string } | { sbom: string };
  ranks: readonly [number, number];
  limit: number;
  offset: number;
}

function within({ place, ranks: [lowest, highest] }: NaiveFilter, sql: Queries) {
  const scope =
    "sbom" in place
      ? sql`findings.id IN (SELECT finding_id FROM finding_sboms WHERE sbom_id = ${place.sbom})`
      : sql`findings.${sql(place.column)} = ${place.id}`;
  return sql`${scope} AND findings.rank BETWEEN ${lowest} AND ${highest}`;
}

export interface NaiveAnswer {
  total: number;
  ids: string[];
}

/** Reads and sorts all rows. @param shown a status, `false_positive` or `all` */
export async function findingsNaively({ shown, ...filter }: NaiveFilter & { shown: string }, sql: Queries): Promise<NaiveAnswer> {
  const state = shown === "all" ? sql`true` : shown === "false_positive" ? sql`false_positive` : sql`status = ${shown}`;
  const where = sql`FROM findings WHERE ${within(filter, sql)} AND ${state}`;
  const [row] = await sql<{ total: number; ids: string[] }[]>`
    SELECT (SELECT count(*)::integer ${where}) AS total,
      ARRAY(SELECT id ${where} ORDER BY rank DESC, id LIMIT ${filter.limit} OFFSET ${filter.offset}) AS ids`;
  return { total: row?.total ?? 0, ids: row?.ids ?? [] };
}

export async function vulnerabilitiesNaively(
  { ecosystem, scoreMin, ...filter }: NaiveFilter & { ecosystem: string | null; scoreMin: number },
  sql: Queries,
): Promise<NaiveAnswer> {
  const grouped = sql`
    SELECT vulnerabilities.name, findings.rank
    FROM findings JOIN vulnerabilities ON vulnerabilities.id = vulnerability_id JOIN packages ON packages.id = package_id
    WHERE ${within(filter, sql)} AND status IN ('open', 'in_progress') AND NOT false_positive 
      AND CASE WHEN findings.rank < 1000 THEN 0 ELSE findings.rank % 1000 END >= ${scoreMin}
    GROUP BY 1, 2 HAVING ${ecosystem === null ? sql`true` : sql`bool_or(ecosystem = ${ecosystem})`}`;
  const [row] = await sql<{ total: number; ids: string[] }[]>`
    WITH grouped AS (${grouped})
    SELECT (SELECT count(*)::integer FROM grouped) AS total,
      ARRAY(SELECT name FROM grouped ORDER BY rank DESC, name LIMIT ${filter.limit} OFFSET ${filter.offset}) AS ids`;
  return { total: row?.total ?? 0, ids: row?.ids ?? [] };
}
