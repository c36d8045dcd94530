/**
 * The SQL of advisories: records with their aliases and affected packages, issues with their names, and the moves of findings and decisions
 * when issues merge or split. Look-ups go by key, since these tables grow faster than their statistics are updated. Ended issues stay while
 * findings or decisions refer to them, so that their history stays readable.
 */
import type { Transaction } from "../../backing/backing.ts";
import { arrayText } from "../../backing/sql-text.ts";
import { issueTextCharactersMax } from "../limits.ts";
import { isMalware } from "./advisory.ts";
import type { RecordAliases, AliasGroup, StoredIssue } from "./alias-groups.ts";
import { type IssueFacts, type Issue, wordCharactersMax, wordType } from "./issue.ts";

/** Until the transaction ends, no other import runs: each of two would group without the other's records. */
export async function lockImports(tx: Transaction): Promise<void> {
  await tx`SELECT pg_advisory_xact_lock(hashtextextended('weir advisories', 0))`;
  // All look-ups are by key. Without statistics, or with a plan for small tables, each batch would read whole tables.
  await tx`
    SELECT set_config('plan_cache_mode', 'force_custom_plan', true), set_config('enable_seqscan', 'off', true),
      set_config('jit', 'off', true)`;
}

export interface StoredFacts {
  modified: string;
  /** In hexadecimal. */
  digest: string;
}

export async function selectFacts(ids: readonly string[], tx: Transaction): Promise<Map<string, StoredFacts>> {
  const rows = await tx<({ id: string } & StoredFacts)[]>`
    SELECT id, modified, encode(digest, 'hex') AS digest FROM advisories WHERE id = ANY (${textArray(ids)}::text[])`;
  return new Map(rows.map(({ id, ...facts }) => [id, facts]));
}

/** Facts about stored records, without the records themselves, which may be large. */
export async function selectIssueFacts(ids: readonly string[], tx: Transaction): Promise<IssueFacts[]> {
  const rows = await tx<(Omit<IssueFacts, "malware"> & { cwes: unknown })[]>`
    SELECT id, withdrawn, record #> '{database_specific,cwe_ids}' AS cwes, record ->> 'published' AS published, left(coalesce(record ->> 'summary', ''), ${issueTextCharactersMax}) AS summary,
      left(coalesce(record ->> 'details', ''), ${issueTextCharactersMax}) AS details,
      (SELECT coalesce(jsonb_agg(one), '[]') FROM (
          SELECT jsonb_path_query(record, '$.severity[*]') AS one
          UNION ALL SELECT jsonb_path_query(record, '$.affected[*].severity[*]')
          UNION ALL SELECT DISTINCT jsonb_build_object('type', ${wordType}::text, 'score', left(word #>> '{}', ${wordCharactersMax}))
            FROM (
              SELECT jsonb_path_query(record, '$.database_specific.severity') AS word
              UNION ALL SELECT jsonb_path_query(record, '$.affected[*].database_specific.severity')
              UNION ALL SELECT jsonb_path_query(record, '$.affected[*].ecosystem_specific.severity')) AS said
            WHERE jsonb_typeof(word) = 'string') AS declared
        WHERE jsonb_typeof(one) = 'object') AS severities
    FROM advisories WHERE id = ANY (${textArray(ids)}::text[])`;
  return rows.map(({ cwes, ...facts }) => ({ ...facts, malware: isMalware({ id: facts.id, cwes }) }));
}

/** These names and all names that aliases connect with them, directly or through other names. */
export async function selectJoined(names: readonly string[], tx: Transaction): Promise<string[]> {
  const rows = await tx<{ name: string }[]>`
    WITH RECURSIVE joined (name) AS (
      SELECT unnest(${textArray(names)}::text[]) COLLATE "C"
      UNION
      SELECT neighbour.name FROM joined, LATERAL (
        SELECT alias AS name FROM advisory_aliases WHERE advisory_id = joined.name
        UNION ALL
        SELECT advisory_id FROM advisory_aliases WHERE alias = joined.name) AS neighbour)
    SELECT name FROM joined`;
  return rows.map(({ name }) => name);
}

/** The aliases of the records with these names. */
export async function selectRecordAliases(names: readonly string[], tx: Transaction): Promise<RecordAliases[]> {
  return tx<{ id: string; aliases: string[] }[]>`
    SELECT id, array(SELECT alias FROM advisory_aliases WHERE advisory_id = id) AS aliases
    FROM advisories WHERE id = ANY (${textArray(names)}::text[])`;
}

/** Packages that the records with these names affect, with duplicates. */
export async function selectPackages(names: readonly string[], tx: Transaction): Promise<bigint[]> {
  const rows = await tx<{ id: bigint }[]>`
    SELECT package_id AS id FROM affected_packages WHERE advisory_id = ANY (${textArray(names)}::text[])`;
  return rows.map(({ id }) => id);
}

export interface AdvisoryRow extends StoredFacts, RecordAliases {
  withdrawn: boolean;
  /** The record as an element of a PostgreSQL array. */
  recordElement: string;
}

export async function upsertAdvisories({ rows, at }: { rows: readonly AdvisoryRow[]; at: Date }, tx: Transaction): Promise<void> {
  await tx`
    INSERT INTO advisories (id, modified, withdrawn, digest, record, imported_at)
    SELECT id, modified, withdrawn, decode(digest, 'hex'), record::jsonb, ${at}
    FROM unnest(
      ${arrayText(rows, ({ id }) => id)}::text[], ${arrayText(rows, ({ modified }) => modified)}::text[],
      ${arrayText(rows, ({ withdrawn }) => withdrawn)}::boolean[], ${arrayText(rows, ({ digest }) => digest)}::text[],
      ${`{${rows.map(({ recordElement }) => recordElement).join(",")}}`}::text[]) AS row (id, modified, withdrawn, digest, record)
    ON CONFLICT (id) DO UPDATE SET modified = excluded.modified, withdrawn = excluded.withdrawn, digest = excluded.digest,
      record = excluded.record, imported_at = excluded.imported_at`;
}

export async function replaceAliases(records: readonly RecordAliases[], tx: Transaction): Promise<void> {
  const pairs = records.flatMap(({ id, aliases }) => aliases.map((alias) => ({ id, alias })));
  await tx`DELETE FROM advisory_aliases WHERE advisory_id = ANY (${textArray(records.map(({ id }) => id))}::text[])`;
  await tx`
    INSERT INTO advisory_aliases (advisory_id, alias)
    SELECT * FROM unnest(${arrayText(pairs, ({ id }) => id)}::text[], ${arrayText(pairs, ({ alias }) => alias)}::text[])`;
}

export interface AffectedRow {
  advisory: string;
  position: number;
  package: bigint;
}

/**
 * Replaces the affected packages of these records.
 * @param entryElements the entry of each row as an element of a PostgreSQL array, separated by commas
 */
export async function replaceAffected(
  { advisories, rows, entryElements }: { advisories: readonly string[]; rows: readonly AffectedRow[]; entryElements: string },
  tx: Transaction,
): Promise<void> {
  await tx`DELETE FROM affected_packages WHERE advisory_id = ANY (${textArray(advisories)}::text[])`;
  await tx`
    INSERT INTO affected_packages (advisory_id, position, package_id, entry)
    SELECT advisory_id, position, package_id, entry::jsonb
    FROM unnest(
      ${arrayText(rows, ({ advisory }) => advisory)}::text[], ${arrayText(rows, ({ position }) => position)}::integer[],
      ${arrayText(rows, (row) => row.package)}::bigint[],
      ${`{${entryElements}}`}::text[]) AS row (advisory_id, position, package_id, entry)`;
}

/** The issues with one of these names, with all their names. */
export async function selectIssues(names: readonly string[], tx: Transaction): Promise<StoredIssue[]> {
  const held = (shared: boolean) => tx`(
    SELECT coalesce(jsonb_agg(held.name ORDER BY held.name), '[]') FROM vulnerability_names AS held
    WHERE held.vulnerability_id = vulnerabilities.id AND held.shared = ${shared})`;
  return tx<StoredIssue[]>`
    SELECT id, jsonb_build_object('id', name, 'ids', ${held(false)}, 'shared', ${held(true)}) AS group FROM vulnerabilities
    WHERE id = ANY (ARRAY (
      SELECT vulnerability_id FROM vulnerability_names WHERE name = ANY (${arrayText(names, (name) => name)}::text[])))`;
}

/** Marks issues as ended and releases their names. The rows stay for their findings and decisions. */
export async function endIssues(issues: readonly bigint[], tx: Transaction): Promise<void> {
  if (issues.length === 0) return;
  const ids = arrayText(issues, (id) => id);
  await tx`UPDATE vulnerabilities SET ended = true, withdrawn = true WHERE id = ANY (${ids}::bigint[])`;
  await tx`DELETE FROM vulnerability_names WHERE vulnerability_id = ANY (${ids}::bigint[])`;
}

/** Deletes ended issues without findings and decisions. */
export async function deleteUnreferenced(issues: readonly bigint[], tx: Transaction): Promise<void> {
  if (issues.length === 0) return;
  await tx`
    DELETE FROM vulnerabilities WHERE id = ANY (${arrayText(issues, (id) => id)}::bigint[])
      AND NOT EXISTS (SELECT FROM findings WHERE vulnerability_id = vulnerabilities.id)
      AND NOT EXISTS (SELECT FROM triages WHERE vulnerability_id = vulnerabilities.id)`;
}

export async function updateIssues(rows: readonly { id: bigint; issue: Issue }[], tx: Transaction): Promise<void> {
  if (rows.length === 0) return;
  await tx`
    UPDATE vulnerabilities SET name = given.name, severity = given.severity, score = given.score, cvss_version = given.cvss_version,
      cvss_vector = given.cvss_vector, severity_source = given.severity_source, severity_basis = given.severity_basis, rank = given.rank, description = given.description,
      withdrawn = given.withdrawn
    FROM (SELECT * FROM unnest(
      ${arrayText(rows, ({ id }) => id)}::bigint[], ${columnTexts(
        rows.map(({ issue }) => issue),
        tx,
      )})
      AS given (id, name, severity, score, cvss_version, cvss_vector, severity_source, severity_basis, rank, description, withdrawn)) AS given
    WHERE vulnerabilities.id = given.id AND (vulnerabilities.name, vulnerabilities.severity, vulnerabilities.score,
        vulnerabilities.cvss_version, vulnerabilities.cvss_vector, vulnerabilities.severity_source, vulnerabilities.severity_basis, vulnerabilities.rank,
        vulnerabilities.description, vulnerabilities.withdrawn)
      IS DISTINCT FROM (given.name, given.severity, given.score, given.cvss_version, given.cvss_vector, given.severity_source, given.severity_basis, given.rank,
        given.description, given.withdrawn)`;
}

/** @returns ids by name */
export async function insertIssues(issues: readonly Issue[], tx: Transaction): Promise<Map<string, bigint>> {
  if (issues.length === 0) return new Map();
  const rows = await tx<{ id: bigint; name: string }[]>`
    INSERT INTO vulnerabilities (name, severity, score, cvss_version, cvss_vector, severity_source, severity_basis, rank, description,
      withdrawn)
    SELECT * FROM unnest(${columnTexts(issues, tx)})
    RETURNING id, name`;
  return new Map(rows.map(({ id, name }) => [name, id]));
}

/** Replaces the names of these issues. */
export async function replaceNames(rows: readonly { id: bigint; group: AliasGroup }[], tx: Transaction): Promise<void> {
  if (rows.length === 0) return;
  const names = rows.flatMap(({ id, group }) => [
    ...group.ids.map((name) => ({ id, name, shared: false })),
    ...group.shared.map((name) => ({ id, name, shared: true })),
  ]);
  await tx`DELETE FROM vulnerability_names WHERE vulnerability_id = ANY (${arrayText(rows, ({ id }) => id)}::bigint[])`;
  await tx`
    INSERT INTO vulnerability_names (name, vulnerability_id, shared)
    SELECT * FROM unnest(
      ${arrayText(names, ({ name }) => name)}::text[], ${arrayText(names, ({ id }) => id)}::bigint[],
      ${arrayText(names, ({ shared }) => shared)}::boolean[])`;
}

/** An issue, and another one to which its findings or decisions also apply. */
export interface IssueMove {
  from: bigint;
  to: bigint;
}

/** If both issues have a decision, the later one applies. The former issue keeps its own. */
export async function copyTriages(moves: readonly IssueMove[], tx: Transaction): Promise<void> {
  if (moves.length === 0) return;
  await tx`
    INSERT INTO triages (project_id, package_id, vulnerability_id, version, status, false_positive, note, justification, accepted_until,
      owner_email, decided_by, decided_at)
    SELECT DISTINCT ON (project_id, package_id, succession.target, version)
      project_id, package_id, succession.target, version, status, false_positive, note, justification, accepted_until, owner_email, decided_by,
      decided_at
    FROM triages JOIN ${pairs(moves, tx)} ON vulnerability_id = succession.source
    ORDER BY project_id, package_id, succession.target, version, decided_at DESC
    ON CONFLICT (project_id, package_id, vulnerability_id, version) DO UPDATE SET status = excluded.status,
      false_positive = excluded.false_positive, note = excluded.note, justification = excluded.justification,
      accepted_until = excluded.accepted_until, owner_email = excluded.owner_email, decided_by = excluded.decided_by,
      decided_at = excluded.decided_at
    WHERE excluded.decided_at > triages.decided_at`;
}

/**
 * Moves findings of ended issues to the issue that now has their names. If several findings would become one, the oldest moves; the others
 * stay, and the next scan resolves them.
 */
export async function moveFindings({ moves, at }: { moves: readonly IssueMove[]; at: Date }, tx: Transaction): Promise<void> {
  if (moves.length === 0) return;
  await tx`
    WITH mover AS (
      SELECT findings.id, succession.source, succession.target, row_number() OVER (
        PARTITION BY project_id, package_id, version_key, succession.target ORDER BY first_seen, findings.id) AS place
      FROM findings JOIN ${pairs(moves, tx)} ON vulnerability_id = succession.source
      WHERE NOT EXISTS (
        SELECT FROM findings AS there
        WHERE there.project_id = findings.project_id AND there.package_id = findings.package_id
          AND there.version_key = findings.version_key AND there.vulnerability_id = succession.target)
    ), moved AS (
      UPDATE findings SET vulnerability_id = mover.target FROM mover WHERE findings.id = mover.id AND mover.place = 1
      RETURNING findings.id, findings.project_id, mover.source, mover.target
    )
    INSERT INTO finding_events (finding_id, project_id, at, actor, cause, changes)
    SELECT moved.id, moved.project_id, ${at}, 'scanner', 'issue_followed',
      jsonb_build_object('cve_id', jsonb_build_object('from', former.name, 'to', present.name))
    FROM moved JOIN vulnerabilities AS former ON former.id = moved.source JOIN vulnerabilities AS present ON present.id = moved.target
    ORDER BY moved.id`;
}

/** Copies ranks to findings, where lists read them. */
export async function copyRanks(issues: readonly bigint[], tx: Transaction): Promise<void> {
  await tx`
    UPDATE findings SET rank = vulnerabilities.rank FROM vulnerabilities
    WHERE vulnerabilities.id = ANY (${arrayText(issues, (id) => id)}::bigint[])
      AND findings.vulnerability_id = vulnerabilities.id AND findings.rank <> vulnerabilities.rank`;
}

function textArray(texts: readonly string[]): string {
  return arrayText(texts, (text) => text);
}

function pairs(moves: readonly IssueMove[], tx: Transaction) {
  return tx`unnest(
    ${arrayText(moves, ({ from }) => from)}::bigint[], ${arrayText(moves, ({ to }) => to)}::bigint[])
    AS succession (source, target)`;
}

function columnTexts(issues: readonly Issue[], tx: Transaction) {
  const column = (read: (issue: Issue) => string | number | boolean | null) => arrayText(issues, read);
  return tx`
    ${column(({ name }) => name)}::text[], ${column(({ severity }) => severity?.severity ?? null)}::text[],
    ${column(({ severity }) => severity?.score ?? null)}::numeric[], ${column(({ severity }) => severity?.version ?? null)}::text[],
    ${column(({ severity }) => severity?.vector ?? null)}::text[], ${column(({ severity }) => severity?.source ?? null)}::text[],
    ${column(({ severity }) => severity?.basis ?? null)}::text[],
    ${column(({ rank }) => rank)}::smallint[], ${column(({ description }) => description)}::text[],
    ${column(({ withdrawn }) => withdrawn)}::boolean[]`;
}
