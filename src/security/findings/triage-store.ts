/**
 * The SQL of decisions and of a finding's history. A decision belongs to an issue in a package of a project, so it outlives versions,
 * uploads and changes of aliases; one that a document makes about named versions belongs to a version of it. A later decision about all
 * versions replaces those about one.
 */
import type { Changes } from "../../accounts/audit/store.ts";
import type { Queries, Transaction } from "../../backing/backing.ts";
import { arrayText } from "../../backing/sql-text.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import type { Justification, StoredDecision } from "./decision.ts";
import type { Decision } from "./transitions.ts";

/** An issue in a package of a project: the unit that people triage. */
export interface Pair {
  package: bigint;
  vulnerability: bigint;
}

/** A decision's place: all versions of a pair, or one. */
export interface DecisionScope extends Pair {
  /** Empty: all. */
  version: string;
}

export interface DecisionRow extends StoredDecision, DecisionScope {
  decidedBy: string;
  decidedAt: Date;
}

export async function selectDecisions(
  { project, pairs }: { project: string; pairs: readonly Pair[] },
  sql: Queries,
): Promise<DecisionRow[]> {
  return sql<DecisionRow[]>`
    SELECT package_id AS package, vulnerability_id AS vulnerability, version, status, false_positive AS "falsePositive", note,
      justification, accepted_until::text AS "acceptedUntil", owner_email AS owner, decided_by AS "decidedBy",
      decided_at AS "decidedAt"
    FROM triages
    WHERE project_id = ${project} AND (package_id, vulnerability_id) IN (
      SELECT * FROM unnest(${arrayText(pairs, (pair) => pair.package)}::bigint[], ${arrayText(pairs, (pair) => pair.vulnerability)}::bigint[]))`;
}

/** The decision of a pair that holds for a version: of the one about all versions and its own the later one. */
export function holdingFor<Row extends { version: string; decidedAt: Date }>(
  rows: readonly Row[],
  version: string,
): Row | undefined {
  const [first, ...others] = rows.filter((row) => row.version === "" || row.version === version);
  return others.reduce<Row | undefined>((held, row) => {
    const later = held === undefined ? 1 : row.decidedAt.getTime() - held.decidedAt.getTime();
    return later > 0 || (later === 0 && row.version !== "") ? row : held;
  }, first);
}

/** Joins `findings` with the decision that holds for each, as `triages`. */
export function joinDecision(sql: Queries) {
  return sql`
    LEFT JOIN LATERAL (
      SELECT note, justification, accepted_until, owner_email, decided_by, decided_at FROM triages AS made
      WHERE made.project_id = findings.project_id AND made.package_id = findings.package_id
        AND made.vulnerability_id = findings.vulnerability_id AND made.version IN ('', findings.version)
      ORDER BY made.decided_at DESC, made.version DESC LIMIT 1
    ) AS triages ON true`;
}

/** Reopens decisions that called these issues resolved. They keep their person and time, because a person's latest decision applies. */
export async function reopenDecisions(
  { project, scopes }: { project: string; scopes: readonly DecisionScope[] },
  tx: Transaction,
): Promise<void> {
  if (scopes.length === 0) return;
  await tx`
    UPDATE triages SET status = 'open'
    WHERE project_id = ${project} AND (package_id, vulnerability_id, version) IN (
      SELECT * FROM unnest(${arrayText(scopes, (scope) => scope.package)}::bigint[],
        ${arrayText(scopes, (scope) => scope.vulnerability)}::bigint[], ${arrayText(scopes, ({ version }) => version)}::text[]))`;
}

export interface Target extends Pair {
  id: string;
  workspace: WorkspaceId;
  project: string;
  /** The issue's name. */
  name: string;
  component: string;
  version: string;
}

export async function selectTarget(
  { workspace, id }: { workspace: WorkspaceId; id: string },
  sql: Queries,
): Promise<Target | undefined> {
  const [row] = await sql<Target[]>`
    SELECT findings.id, findings.workspace_id AS workspace, findings.project_id AS project, findings.package_id AS package,
      findings.vulnerability_id AS vulnerability, vulnerabilities.name, findings.component, findings.version
    FROM findings JOIN vulnerabilities ON vulnerabilities.id = findings.vulnerability_id
    WHERE findings.id = ${id} AND findings.workspace_id = ${workspace}`;
  return row;
}

/** Until the transaction ends, no scan of the project writes, and no other call triages its findings. */
export async function lockDecisions(project: string, tx: Transaction): Promise<void> {
  await tx`SELECT FROM projects WHERE id = ${project} FOR NO KEY UPDATE`;
}

export interface VersionRow extends Decision {
  id: string;
  version: string;
  present: boolean;
}

/** The findings of an issue in a package of a project: one for each present or former version. @param only of one version */
export async function selectVersions(
  { project, only = null, ...pair }: Pair & { project: string; only?: string | null },
  sql: Queries,
): Promise<VersionRow[]> {
  return sql<VersionRow[]>`
    SELECT id, version, status, false_positive AS "falsePositive", present FROM findings
    WHERE project_id = ${project} AND package_id = ${pair.package} AND vulnerability_id = ${pair.vulnerability}
      ${only === null ? sql`` : sql`AND version = ${only}`} ORDER BY id`;
}

export async function updateDecided(rows: readonly (Decision & { id: string })[], tx: Transaction): Promise<void> {
  if (rows.length === 0) return;
  await tx`
    UPDATE findings SET status = new.status, false_positive = new.false_positive
    FROM unnest(
      ${arrayText(rows, ({ id }) => id)}::text[], ${arrayText(rows, ({ status }) => status)}::text[],
      ${arrayText(rows, ({ falsePositive }) => falsePositive)}::boolean[]) AS new (id, status, false_positive)
    WHERE findings.id = new.id`;
}

/** A decision about all versions replaces those about one. */
export async function upsertDecision(
  { project, by, at, ...row }: StoredDecision & DecisionScope & { project: string; by: string; at: Date },
  tx: Transaction,
): Promise<void> {
  if (row.version === "") {
    await tx`
      DELETE FROM triages WHERE project_id = ${project} AND package_id = ${row.package} AND vulnerability_id = ${row.vulnerability}
        AND version <> ''`;
  }
  await tx`
    INSERT INTO triages (project_id, package_id, vulnerability_id, version, status, false_positive, note, justification, accepted_until, owner_email,
      decided_by, decided_at)
    VALUES (${project}, ${row.package}, ${row.vulnerability}, ${row.version}, ${row.status}, ${row.falsePositive}, ${row.note}, ${row.justification},
      ${row.acceptedUntil}::date, ${row.owner}, ${by}, ${at})
    ON CONFLICT (project_id, package_id, vulnerability_id, version) DO UPDATE SET status = excluded.status,
      false_positive = excluded.false_positive, note = excluded.note, justification = excluded.justification,
      accepted_until = excluded.accepted_until, owner_email = excluded.owner_email, decided_by = excluded.decided_by,
      decided_at = excluded.decided_at`;
}

interface EventRow {
  at: Date;
  actor: string;
  cause: string;
  changes: Changes;
}

export interface EndedAcceptance extends DecisionScope {
  /** Its last day. */
  acceptedUntil: string;
  acceptedBy: string;
  /** Who takes care of it; null: no one. */
  owner: string | null;
}

/**
 * Opens decisions that accept a risk, if their last day is before `today`. Locks nothing: the caller holds the project.
 */
export async function endAcceptances(
  { project, today, limit }: { project: string; today: string; limit: number },
  tx: Transaction,
): Promise<EndedAcceptance[]> {
  return tx<EndedAcceptance[]>`
    WITH ended AS MATERIALIZED (
      SELECT package_id, vulnerability_id, version, accepted_until FROM triages
      WHERE project_id = ${project} AND accepted_until < ${today}::date LIMIT ${limit}
    )
    UPDATE triages SET status = 'open', accepted_until = NULL FROM ended
    WHERE triages.project_id = ${project} AND triages.package_id = ended.package_id AND triages.vulnerability_id = ended.vulnerability_id
      AND triages.version = ended.version
    RETURNING ended.package_id AS package, ended.vulnerability_id AS vulnerability, ended.version, ended.accepted_until::text AS "acceptedUntil",
      triages.decided_by AS "acceptedBy", triages.owner_email AS owner`;
}

interface OpenedFinding {
  id: string;
  /** The issue's. */
  name: string;
  rank: number;
  component: string;
  version: string;
}

/** The most severe of these findings. */
export async function selectMostSevere(
  { ids, limit }: { ids: readonly string[]; limit: number },
  sql: Queries,
): Promise<OpenedFinding[]> {
  return sql<OpenedFinding[]>`
    SELECT findings.id, vulnerabilities.name, findings.rank, findings.component, findings.version
    FROM findings JOIN vulnerabilities ON vulnerabilities.id = findings.vulnerability_id
    WHERE findings.id = ANY(${arrayText(ids, (id) => id)}::text::text[]) ORDER BY findings.rank DESC, findings.component, findings.version, findings.id LIMIT ${limit}`;
}

/** Projects with such decisions. */
export async function selectEndedAcceptances(
  { today, limit }: { today: string; limit: number },
  sql: Queries,
): Promise<{ project: string; name: string; workspace: WorkspaceId }[]> {
  return sql<{ project: string; name: string; workspace: WorkspaceId }[]>`
    SELECT DISTINCT project_id AS project, projects.name, workspace_id AS workspace
    FROM triages JOIN projects ON projects.id = project_id WHERE accepted_until < ${today}::date LIMIT ${limit}`;
}

/** The events of a finding, newest first. */
export async function selectEvents(
  { finding, limit, offset }: { finding: string; limit: number; offset: number },
  sql: Queries,
): Promise<EventRow[]> {
  return sql<EventRow[]>`
    SELECT at, actor, cause, changes FROM finding_events WHERE finding_id = ${finding} ORDER BY id DESC LIMIT ${limit} OFFSET ${offset}`;
}

export async function countEvents(finding: string, sql: Queries): Promise<number> {
  const [row] = await sql<
    { count: number }[]
  >`SELECT count(*)::integer AS count FROM finding_events WHERE finding_id = ${finding}`;
  return row?.count ?? 0;
}

interface FindingState {
  /** Whether the project still has the component, and an advisory still names its version. */
  present: boolean;
  note: string | null;
  justification: Justification | null;
  acceptedUntil: string | null;
  owner: string | null;
  decidedBy: string | null;
  decidedAt: Date | null;
}

/** What a finding's row lacks: whether the project still has it, and what a person decided. */
export async function selectState(finding: string, sql: Queries): Promise<FindingState | undefined> {
  const [row] = await sql<FindingState[]>`
    SELECT findings.present, triages.note, triages.justification, triages.accepted_until::text AS "acceptedUntil",
      triages.owner_email AS owner, triages.decided_by AS "decidedBy", triages.decided_at AS "decidedAt"
    FROM findings ${joinDecision(sql)}
    WHERE findings.id = ${finding}`;
  return row;
}
