/**
 * The SQL of projects. A project is locked while its SBOM or product changes. A move also moves its findings, since lists of a product read
 * only findings. The displayed status is `not_comparable` if a completed scan had nothing to compare. Only projects of the sample data are
 * removed.
 */
import { type Queries, type Transaction, allowStatements } from "../../backing/backing.ts";
import { arrayText } from "../../backing/sql-text.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { projectMoveMs } from "../limits.ts";
import type { Scope } from "../operation.ts";
import { isComparable, notCompared } from "../scans/comparison-store.ts";

export type ProjectProvider = "upload" | "git" | "archive" | "github" | "gitlab" | "sample";
type ScanStatus = "never" | "pending" | "scanning" | "completed" | "failed" | "not_comparable";

export interface ProjectRow {
  id: string;
  name: string;
  product: string | null;
  provider: ProjectProvider;
  repository: string | null;
  /** Id of the current SBOM. */
  sbom: string | null;
  scanStatus: ScanStatus;
}

/** By id or exact name. */
type ProjectNamed = { workspace: WorkspaceId } & ({ id: string } | { name: string });

/** @returns false if the workspace has a project with that name */
export async function insertProject(
  project: Pick<ProjectRow, "id" | "name" | "provider"> & { workspace: WorkspaceId; at: Date },
  tx: Transaction,
): Promise<boolean> {
  const rows = await tx`
    INSERT INTO projects (id, workspace_id, name, provider, created_at)
    VALUES (${project.id}, ${project.workspace}, ${project.name}, ${project.provider}, ${project.at})
    ON CONFLICT (workspace_id, name) DO NOTHING
    RETURNING id`;
  return rows.length === 1;
}

/** Locks the project until the transaction ends, so that changes to its SBOM and its product do not overlap. */
export async function lockProject({ workspace, ...named }: ProjectNamed, tx: Transaction): Promise<ProjectRow | undefined> {
  const [row] = await tx<ProjectRow[]>`
    SELECT id, name, product_id AS product, provider, repository, sbom_id AS sbom, ${shownStatus(tx)} AS "scanStatus"
    FROM projects
    WHERE workspace_id = ${workspace} AND ${"id" in named ? tx`id = ${named.id}` : tx`name = ${named.name}`}
    FOR NO KEY UPDATE`;
  return row;
}

export async function updateOrigin(
  { id, provider, repository }: Pick<ProjectRow, "id" | "provider" | "repository">,
  tx: Transaction,
): Promise<void> {
  await tx`UPDATE projects SET provider = ${provider}, repository = ${repository} WHERE id = ${id}`;
}

export async function updateDocument({ id, sbom }: { id: string; sbom: string }, tx: Transaction): Promise<void> {
  await tx`UPDATE projects SET sbom_id = ${sbom} WHERE id = ${id}`;
}

/**
 * Moves the findings too, since lists of a product read only findings. The counts of these lists are updated here, not at the commit, so
 * that the longer statement timeout applies.
 */
export async function updateProduct({ id, product }: { id: string; product: string | null }, tx: Transaction): Promise<void> {
  await allowStatements(projectMoveMs, tx);
  await tx`UPDATE projects SET product_id = ${product} WHERE id = ${id}`;
  await tx`UPDATE findings SET product_id = ${product} WHERE project_id = ${id} AND product_id IS DISTINCT FROM ${product}`;
  await tx`SET CONSTRAINTS ALL IMMEDIATE`;
}

export async function selectProjectIdByName(
  { workspace, name }: { workspace: WorkspaceId; name: string },
  sql: Queries,
): Promise<string | undefined> {
  const [row] = await sql<{ id: string }[]>`SELECT id FROM projects WHERE workspace_id = ${workspace} AND name = ${name}`;
  return row?.id;
}

export type ProjectNames = Pick<ProjectRow, "id" | "name">;

/** The projects of the sample data, in order of name, and whether the workspace has others. */
export async function selectSample(
  workspace: WorkspaceId,
  sql: Queries,
): Promise<{ sample: ProjectNames[]; hasOthers: boolean }> {
  const sample = await sql<ProjectNames[]>`
    SELECT id, name FROM projects WHERE workspace_id = ${workspace} AND provider = 'sample' ORDER BY name`;
  const others = await sql`SELECT FROM projects WHERE workspace_id = ${workspace} AND provider <> 'sample' LIMIT 1`;
  return { sample, hasOthers: others.length > 0 };
}

/**
 * Locks them in the order of imports and before their findings, so that scans and imports wait instead of deadlocking. Loading and removing
 * take turns, since a new project cannot be locked in that order.
 */
export async function lockSample(workspace: WorkspaceId, tx: Transaction): Promise<ProjectNames[]> {
  await tx`SELECT pg_advisory_xact_lock(hashtextextended(${`sample data ${workspace}`}, 0))`;
  return tx<ProjectNames[]>`
    SELECT id, name FROM projects WHERE workspace_id = ${workspace} AND provider = 'sample' ORDER BY id FOR UPDATE`;
}

/** Deletes these projects with their SBOMs, findings, decisions and history. They must be locked. */
export async function deleteProjects(ids: readonly string[], tx: Transaction): Promise<void> {
  const projects = arrayText(ids, (id) => id);
  await tx`UPDATE projects SET sbom_id = NULL WHERE id = ANY (${projects}::text[])`;
  await tx`DELETE FROM findings WHERE project_id = ANY (${projects}::text[])`;
  await tx`DELETE FROM sboms WHERE project_id = ANY (${projects}::text[])`;
  await tx`DELETE FROM projects WHERE id = ANY (${projects}::text[])`;
}

interface ProjectFilter {
  workspace: WorkspaceId;
  scope: Scope;
  /** Exact; null: any. */
  name: string | null;
  /** Part of the name, in any case; absent: any. */
  text?: string | undefined;
}

export interface ListedProject extends Omit<ProjectRow, "repository" | "sbom"> {
  lastScannedAt: Date | null;
  /** Findings of the last scan beyond the limit, which were not stored. */
  findingsLeftOut: number;
  /** Components of the current SBOM for which no advisory can be compared. */
  notCompared: number;
}

/** Ordered by name, which is unique in a workspace. */
export async function selectProjects(
  { limit, offset, ...filter }: ProjectFilter & { limit: number; offset: number },
  sql: Queries,
): Promise<ListedProject[]> {
  return sql<ListedProject[]>`
    SELECT id, name, product_id AS product, provider, ${shownStatus(sql)} AS "scanStatus", last_scanned_at AS "lastScannedAt",
      findings_left_out AS "findingsLeftOut", ${notCompared(sql)} AS "notCompared"
    FROM projects ${matching(filter, sql)} ORDER BY name LIMIT ${limit} OFFSET ${offset}`;
}

export async function countProjects(filter: ProjectFilter, sql: Queries): Promise<number> {
  const [row] = await sql<{ count: number }[]>`SELECT count(*)::integer AS count FROM projects ${matching(filter, sql)}`;
  return row?.count ?? 0;
}

interface ProjectDetails extends ListedProject {
  repository: string | null;
  scanFailure: string | null;
  unknownsLeftOut: number;
  createdAt: Date;
  /** Its current SBOM; null: none. */
  sbom: PresentSbom | null;
}

export interface PresentSbom {
  id: string;
  format: string;
  specVersion: string;
  name: string | null;
  filename: string | null;
  components: number;
  warnings: string[];
  createdAt: string;
}

export async function selectProject(
  { workspace, id }: { workspace: WorkspaceId; id: string },
  sql: Queries,
): Promise<ProjectDetails | undefined> {
  const [row] = await sql<ProjectDetails[]>`
    SELECT projects.id, projects.name, product_id AS product, provider, repository, ${shownStatus(sql)} AS "scanStatus",
      scan_failure AS "scanFailure", last_scanned_at AS "lastScannedAt", ${notCompared(sql)} AS "notCompared",
      findings_left_out AS "findingsLeftOut", unknowns_left_out AS "unknownsLeftOut", projects.created_at AS "createdAt",
      CASE WHEN s.id IS NULL THEN NULL ELSE jsonb_build_object('id', s.id, 'format', s.format, 'specVersion', s.spec_version,
        'name', s.name, 'filename', s.filename, 'components', s.components, 'warnings', s.warnings,
        'createdAt', s.created_at) END AS sbom
    FROM projects LEFT JOIN sboms s ON s.id = projects.sbom_id
    WHERE projects.workspace_id = ${workspace} AND projects.id = ${id}`;
  return row;
}

/** The displayed status: a completed scan that had nothing to compare is not a verdict. */
function shownStatus(sql: Queries) {
  return sql`CASE WHEN scan_status = 'completed' AND NOT ${isComparable(sql)} THEN 'not_comparable' ELSE scan_status END`;
}

function matching({ workspace, scope, name, text }: ProjectFilter, sql: Queries) {
  return sql`
    WHERE workspace_id = ${workspace}
      ${scope.kind === "product" ? sql`AND product_id = ${scope.id}` : sql``}
      ${scope.kind === "project" ? sql`AND id = ${scope.id}` : sql``}
      ${name === null ? sql`` : sql`AND name = ${name}`}
      ${text === undefined ? sql`` : sql`AND strpos(lower(name), lower(${text})) > 0`}`;
}
