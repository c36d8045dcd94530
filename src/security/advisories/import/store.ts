/** The SQL of records, their aliases and the packages that they affect. */
import { arrayText } from "../../../backing/sql-text.ts";
import type { Transaction } from "../../../backing/backing.ts";
import { issueTextCharactersMax } from "../../limits.ts";
import type { RecordAliases } from "../issues/alias-groups.ts";
import type { IssueFacts } from "../issues/issue-facts.ts";

/** Until the transaction ends, no other import runs: two imports would each group without the records of the other one. */
export async function lockImports(tx: Transaction): Promise<void> {
  await tx`SELECT pg_advisory_xact_lock(hashtextextended('weir advisories', 0))`;
  // All look-ups are by key, in tables that grow faster than their statistics are updated. Without statistics, or with the plan for
  // a small table, each batch would read whole tables.
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

/** The facts of stored records, without the whole records, which may be large. */
export async function selectIssueFacts(ids: readonly string[], tx: Transaction): Promise<IssueFacts[]> {
  return tx<IssueFacts[]>`
    SELECT id, withdrawn, record ->> 'published' AS published, left(coalesce(record ->> 'summary', ''), ${issueTextCharactersMax}) AS summary,
      left(coalesce(record ->> 'details', ''), ${issueTextCharactersMax}) AS details,
      (SELECT coalesce(jsonb_agg(one), '[]') FROM (
          SELECT jsonb_path_query(record, '$.severity[*]') AS one
          UNION ALL SELECT jsonb_path_query(record, '$.affected[*].severity[*]')) AS declared
        WHERE jsonb_typeof(one) = 'object') AS severities
    FROM advisories WHERE id = ANY (${textArray(ids)}::text[])`;
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

/** The aliases of the records among these names. */
export async function selectRecordAliases(names: readonly string[], tx: Transaction): Promise<RecordAliases[]> {
  return tx<{ id: string; aliases: string[] }[]>`
    SELECT id, array(SELECT alias FROM advisory_aliases WHERE advisory_id = id) AS aliases
    FROM advisories WHERE id = ANY (${textArray(names)}::text[])`;
}

/** Packages that the records among these names affect, with duplicates. */
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

/** Replaces the aliases of these records. */
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

function textArray(texts: readonly string[]): string {
  return arrayText(texts, (text) => text);
}
