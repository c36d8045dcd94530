/**
 * All SQL that rolls usage up, in one transaction at a time. A bound is set first. From then on writers note what they write below it, and
 * everything below it is summed, so a generation is either in the sums or among the late ones. The schema explains the bounds.
 */
import { type Database, type Queries, type Transaction, allowLocks, allowStatements } from "../../backing/backing.ts";
import { timeOfId, type GenerationId } from "../../kernel/ids.ts";
import { usageClosingLockMs, usageRollUpStatementMsMax, usageShortSpanMs } from "../limits.ts";

/**
 * Lets later writers note what they write below `before`. It waits for the transactions that are writing, and all later ones wait for it,
 * so it does nothing else.
 * @returns whether it could: no other process rolls up
 * @throws errors of the database, such as a lock that was not free in time
 */
export function closeUsage(before: GenerationId, sql: Database): Promise<boolean> {
  return sql.begin(async (tx) => {
    if (!(await becomeOnly(tx))) return false;
    await allowLocks(usageClosingLockMs, tx);
    await tx`SELECT pg_advisory_xact_lock(hashtext('usage closing'))`;
    await tx`
      INSERT INTO usage_state (closing_before) VALUES (${before})
      ON CONFLICT (is_only) DO UPDATE SET closing_before = greatest(usage_state.closing_before, excluded.closing_before)`;
    return true;
  }) as Promise<boolean>;
}

/**
 * Adds the next generations below the bound to the sums, and all late ones.
 * @param rowsMax how many generations are added at most
 * @returns whether more are left; false also while another process rolls up
 */
export function rollUpNext(rowsMax: number, sql: Database): Promise<boolean> {
  return sql.begin(async (tx) => {
    await allowStatements(usageRollUpStatementMsMax, tx);
    if (!(await becomeOnly(tx))) return false;
    const [state] = await tx<{ closed: GenerationId; closing: GenerationId }[]>`
      SELECT closed_before AS closed, closing_before AS closing FROM usage_state`;
    if (!state) return false;
    const { closed, closing } = state;
    const next = await generationAfter({ closed, closing, rowsMax }, tx);
    await sumUp({ closed, upTo: next ?? closing }, tx);
    return next !== undefined;
  }) as Promise<boolean>;
}

/**
 * Adds the next six hours that have sums to the longer spans, which readers use where they can.
 * @param before a quarter that begins six hours of a day in UTC: what is later is left
 * @returns whether more are left; false also while another process rolls up
 */
export function sumNextSpans(before: number, sql: Database): Promise<boolean> {
  return sql.begin(async (tx) => {
    await allowStatements(usageRollUpStatementMsMax, tx);
    if (!(await becomeOnly(tx))) return false;
    const [next] = await tx<{ start: number | null }[]>`
      SELECT min(start) AS start FROM usage_state
      CROSS JOIN (SELECT number FROM workspaces UNION ALL SELECT 0) AS named CROSS JOIN LATERAL (
        SELECT start FROM usage_sums
        WHERE workspace = number AND kind = 0 AND span = 1 AND start >= coalesce(summed_before, 0) AND start < ${before} ORDER BY start LIMIT 1
      ) AS first`;
    const from = next?.start === null || next === undefined ? before : next.start - (next.start % sixHours);
    const upTo = Math.min(from + sixHours, before);
    await addSpans({ from, upTo }, tx);
    await tx`UPDATE usage_state SET summed_before = greatest(summed_before, ${upTo})`;
    return upTo < before;
  }) as Promise<boolean>;
}

/** Tries the roll-up's lock. @returns whether this transaction has it */
async function becomeOnly(tx: Transaction): Promise<boolean> {
  const [lock] = await tx<{ taken: boolean }[]>`SELECT pg_try_advisory_xact_lock(hashtext('usage roll-up')) AS taken`;
  return lock?.taken === true;
}

/** The first generation that is left for the next step; undefined: this step takes all. After a usual pause it does so without counting. */
async function generationAfter(
  { closed, closing, rowsMax }: { closed: GenerationId; closing: GenerationId; rowsMax: number },
  tx: Transaction,
): Promise<GenerationId | undefined> {
  const isShort = closed !== "" && timeOfId(closing) - timeOfId(closed) <= usageShortSpanMs;
  if (isShort) return undefined;
  const [next] = await tx<{ generation: GenerationId }[]>`
    SELECT generation_id AS generation FROM generations WHERE generation_id >= ${closed} AND generation_id < ${closing}
    ORDER BY generation_id OFFSET ${rowsMax} LIMIT 1`;
  return next?.generation;
}

/**
 * One statement and so one snapshot: a late generation is either seen both in `generations` and in `usage_late`, or in neither. Those from
 * `closed` on are summed with all others, so they only leave `usage_late`.
 */
async function sumUp({ closed, upTo }: { closed: GenerationId; upTo: GenerationId }, tx: Transaction): Promise<void> {
  const series = tx`workspace_id, key_id, model, provider, endpoint, own_key`;
  await tx`
    WITH late AS (
      DELETE FROM usage_late WHERE generation_id < ${upTo} RETURNING *
    ), used AS MATERIALIZED (
      SELECT ${series}, quarter, error, first_token, ${sums(tx)} FROM (
        SELECT * FROM generation_usage WHERE generation_id >= ${closed} AND generation_id < ${upTo}
        UNION ALL SELECT * FROM late WHERE generation_id < ${closed}
      ) AS part GROUP BY ${series}, quarter, error, first_token
    ), by_kind AS MATERIALIZED (
      SELECT ${ofKind(tx)}, quarter, ${sums(tx)} FROM used CROSS JOIN (VALUES (0::smallint), (1), (2), (3)) AS of_kind (kind)
      GROUP BY 1, 2, 3, 4, 5, 6, 7, 8
    ), named AS (
      SELECT DISTINCT ${series} FROM by_kind
    ), known AS MATERIALIZED (
      SELECT id, ${series} FROM named JOIN usage_series USING (${series})
    ), counted AS MATERIALIZED (
      SELECT ${ofKind(tx)}, quarter, name, whole_sum(requests) AS requests
      FROM used CROSS JOIN (VALUES (1::smallint), (2), (3)) AS of_kind (kind) CROSS JOIN LATERAL (VALUES (error), (first_token)) AS named (name)
      WHERE name IS NOT NULL GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9
    ), made AS (
      INSERT INTO usage_series (${series}) SELECT ${series} FROM named EXCEPT SELECT ${series} FROM known
      RETURNING id, ${series}
    ), closing AS (
      UPDATE usage_state SET closed_before = ${upTo}
    ), all_series AS MATERIALIZED (
      SELECT * FROM known UNION ALL SELECT * FROM made
    ), counts AS (
      INSERT INTO usage_counts AS kept
      SELECT coalesce(number, 0), kind, span, quarter - quarter % span, all_series.id, counted.name, whole_sum(requests)
      FROM counted JOIN all_series USING (${series}) LEFT JOIN workspaces ON workspaces.id = workspace_id
      JOIN (VALUES (1::smallint), (24)) AS spans (span) ON span = 1 OR quarter < (SELECT summed_before FROM usage_state)
      GROUP BY 1, 2, 3, 4, 5, 6
      ${countedTo(tx)}
    )
    INSERT INTO usage_sums AS kept
    SELECT coalesce(number, 0), kind, span, quarter - quarter % span, all_series.id, ${sums(tx)}
    FROM by_kind JOIN all_series USING (${series}) LEFT JOIN workspaces ON workspaces.id = workspace_id
    JOIN (VALUES (1::smallint), (4), (24), (96), (768)) AS spans (span)
      ON span = 1 OR quarter < (SELECT summed_before FROM usage_state)
    GROUP BY 1, 2, 3, 4, 5
    ${addedTo(tx)}`;
}

/** A kind, and the names of a series that it keeps; the schema explains them. */
function ofKind(sql: Queries) {
  const unlessOf = (kind: number, name: string) =>
    sql`CASE WHEN kind IN (${kind}, 3) THEN '*' ELSE ${sql(name)} END AS ${sql(name)}`;
  return sql`kind, workspace_id, ${unlessOf(2, "key_id")}, ${unlessOf(1, "model")}, ${unlessOf(1, "provider")}, ${unlessOf(1, "endpoint")},
    own_key AND kind = 0 AS own_key`;
}

function sums(sql: Queries) {
  return sql`whole_sum(requests) AS requests, whole_sum(errors) AS errors, whole_sum(prompt_tokens) AS prompt_tokens,
    whole_sum(cached_tokens) AS cached_tokens, whole_sum(cache_write_tokens) AS cache_write_tokens,
    whole_sum(completion_tokens) AS completion_tokens, whole_sum(charge_nano) AS charge_nano, whole_sum(list_nano) AS list_nano`;
}

function addedTo(sql: Queries) {
  return sql`
    ON CONFLICT (workspace, kind, span, start, series_id) DO UPDATE SET
      requests = kept.requests + excluded.requests, errors = kept.errors + excluded.errors,
      prompt_tokens = kept.prompt_tokens + excluded.prompt_tokens, cached_tokens = kept.cached_tokens + excluded.cached_tokens,
      cache_write_tokens = kept.cache_write_tokens + excluded.cache_write_tokens,
      completion_tokens = kept.completion_tokens + excluded.completion_tokens,
      charge_nano = kept.charge_nano + excluded.charge_nano, list_nano = kept.list_nano + excluded.list_nano`;
}

function countedTo(sql: Queries) {
  return sql`
    ON CONFLICT (workspace, kind, span, start, series_id, name) DO UPDATE SET requests = kept.requests + excluded.requests`;
}

const sixHours = 24;

async function addSpans({ from, upTo }: { from: number; upTo: number }, tx: Transaction): Promise<void> {
  await tx`
    INSERT INTO usage_sums AS kept
    SELECT number, of_kind.kind, span, longer.start, series_id, requests, errors, prompt_tokens, cached_tokens, cache_write_tokens,
      completion_tokens, charge_nano, list_nano
    FROM (SELECT number FROM workspaces UNION ALL SELECT 0) AS named CROSS JOIN (VALUES (0::smallint), (1), (2), (3)) AS of_kind (kind)
    CROSS JOIN (VALUES (4::smallint), (24), (96), (768)) AS lengths (length)
    CROSS JOIN LATERAL (
      SELECT length AS span, start - start % length AS start, series_id, ${sums(tx)} FROM usage_sums
      WHERE workspace = number AND usage_sums.kind = of_kind.kind AND span = 1 AND start >= ${from} AND start < ${upTo}
      GROUP BY 2, 3
    ) AS longer
    ${addedTo(tx)}`;
  await tx`
    INSERT INTO usage_counts AS kept
    SELECT number, of_kind.kind, ${sixHours}, longer.start, series_id, name, requests
    FROM (SELECT number FROM workspaces UNION ALL SELECT 0) AS named CROSS JOIN (VALUES (1::smallint), (2), (3)) AS of_kind (kind)
    CROSS JOIN LATERAL (
      SELECT start - start % ${sixHours} AS start, series_id, name, whole_sum(requests) AS requests FROM usage_counts
      WHERE workspace = number AND usage_counts.kind = of_kind.kind AND span = 1 AND start >= ${from} AND start < ${upTo}
      GROUP BY 1, 2, 3
    ) AS longer
    ${countedTo(tx)}`;
}
