/** Records of sources, the names that they claim and the packages that they speak of. */
import { arrayText } from "../../../backing/array-text.ts";
import type { Transaction } from "../../../backing/backing.ts";
import { issueTextCharactersMax } from "../../limits.ts";
import type { RecordAliases } from "../issues/alias-groups.ts";
import type { IssueFacts } from "../issues/issue-facts.ts";

/** Until the transaction ends nobody else imports: two imports would each group without what the other one brings. */
export async function lockImports(tx: Transaction): Promise<void> {
  await tx`SELECT pg_advisory_xact_lock(hashtextextended('weir advisories', 0))`;
  // Everything is looked up by its key, in tables that grow faster than statistics of them are made: without any, or with a plan
  // of the time when they were small, they would be read whole for each batch.
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

/** Of records that are stored: the whole of them may be large. */
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

/** These names and all that aliases join with them, directly or over others. */
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

/** What the records among these names claim. */
export async function selectRecordAliases(names: readonly string[], tx: Transaction): Promise<RecordAliases[]> {
  return tx<{ id: string; aliases: string[] }[]>`
    SELECT id, array(SELECT alias FROM advisory_aliases WHERE advisory_id = id) AS aliases
    FROM advisories WHERE id = ANY (${textArray(names)}::text[])`;
}

/** Packages that the records among these names speak of, some of them more than once. */
export async function selectPackages(names: readonly string[], tx: Transaction): Promise<bigint[]> {
  const rows = await tx<{ id: bigint }[]>`
    SELECT package_id AS id FROM affected_packages WHERE advisory_id = ANY (${textArray(names)}::text[])`;
  return rows.map(({ id }) => id);
}

export interface AdvisoryRow extends StoredFacts, RecordAliases {
  withdrawn: boolean;
  /** An element of an array. */
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

/** What these records claim now takes the place of all that they claimed. */
export async function replaceAliases(claims: readonly RecordAliases[], tx: Transaction): Promise<void> {
  const pairs = claims.flatMap(({ id, aliases }) => aliases.map((alias) => ({ id, alias })));
  await tx`DELETE FROM advisory_aliases WHERE advisory_id = ANY (${textArray(claims.map(({ id }) => id))}::text[])`;
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
 * What these records say of packages now takes the place of all that they said.
 * @param entryElements what each row says, as elements of an array between commas
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
