/** The SQL of issues and their names. */
import { arrayText } from "../../../backing/sql-text.ts";
import type { Transaction } from "../../../backing/backing.ts";
import type { AliasGroup } from "./alias-groups.ts";
import type { Issue } from "./issue.ts";
import type { StoredIssue } from "./regroup.ts";

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
      cvss_vector = given.cvss_vector, severity_source = given.severity_source, rank = given.rank, description = given.description,
      withdrawn = given.withdrawn
    FROM (SELECT * FROM unnest(
      ${arrayText(rows, ({ id }) => id)}::bigint[], ${columnTexts(
        rows.map(({ issue }) => issue),
        tx,
      )})
      AS given (id, name, severity, score, cvss_version, cvss_vector, severity_source, rank, description, withdrawn)) AS given
    WHERE vulnerabilities.id = given.id AND (vulnerabilities.name, vulnerabilities.severity, vulnerabilities.score,
        vulnerabilities.cvss_version, vulnerabilities.cvss_vector, vulnerabilities.severity_source, vulnerabilities.rank,
        vulnerabilities.description, vulnerabilities.withdrawn)
      IS DISTINCT FROM (given.name, given.severity, given.score, given.cvss_version, given.cvss_vector, given.severity_source, given.rank,
        given.description, given.withdrawn)`;
}

/** @returns ids by name */
export async function insertIssues(issues: readonly Issue[], tx: Transaction): Promise<Map<string, bigint>> {
  if (issues.length === 0) return new Map();
  const rows = await tx<{ id: bigint; name: string }[]>`
    INSERT INTO vulnerabilities (name, severity, score, cvss_version, cvss_vector, severity_source, rank, description, withdrawn)
    SELECT * FROM unnest(${columnTexts(issues, tx)})
    RETURNING id, name`;
  return new Map(rows.map(({ id, name }) => [name, id]));
}

function columnTexts(issues: readonly Issue[], tx: Transaction) {
  const column = (read: (issue: Issue) => string | number | boolean | null) => arrayText(issues, read);
  return tx`
    ${column(({ name }) => name)}::text[], ${column(({ severity }) => severity?.severity ?? null)}::text[],
    ${column(({ severity }) => severity?.score ?? null)}::numeric[], ${column(({ severity }) => severity?.version ?? null)}::text[],
    ${column(({ severity }) => severity?.vector ?? null)}::text[], ${column(({ severity }) => severity?.source ?? null)}::text[],
    ${column(({ rank }) => rank)}::smallint[], ${column(({ description }) => description)}::text[],
    ${column(({ withdrawn }) => withdrawn)}::boolean[]`;
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
