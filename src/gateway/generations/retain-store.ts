/**
 * All SQL of retention: one month's rows become sums by workspace, key, model and day, which totals and the ledger's proof need. Writers of
 * the month wait once it is locked, so that no row is added between summing and deleting.
 */
import { DomainError } from "../../accounts/errors.ts";
import type { Queries, Transaction } from "../../backing/backing.ts";
import { monthBounds, type Month } from "../../kernel/clock.ts";
import { firstGenerationId } from "../../kernel/ids.ts";

export interface RetainedMonth {
  month: Month;
  generations: number;
  /** The size of the deleted rows and their indexes. */
  bytes: number;
}

/** The months that have rows, oldest first. */
export async function selectMonths(sql: Queries): Promise<Month[]> {
  const rows = await sql<{ name: string }[]>`
    SELECT child.relname AS name FROM pg_inherits JOIN pg_class AS child ON child.oid = inhrelid
    WHERE inhparent = 'generations'::regclass ORDER BY child.relname`;
  return rows.map(({ name }) => name.replace(partitionPrefix, "").replace("_", "-"));
}

const partitionPrefix = "generations_";

/** Writers of this month wait once it is locked, so that no row is added between summing and deleting. */
export async function retainMonth(month: Month, tx: Transaction): Promise<RetainedMonth> {
  const partition = tx(partitionPrefix + month.replace("-", "_"));
  await tx`LOCK TABLE ${partition} IN SHARE ROW EXCLUSIVE MODE`;
  await requireRolledUp(month, tx);
  await tx`
    INSERT INTO generation_days AS kept (workspace_id, key_id, model, day, generations, charges, failed, prompt_tokens, cached_tokens,
      completion_tokens, cost_nano, excess_nano)
    SELECT workspace_id, key_id, model, coalesce((month || '-01')::date, (admitted_at AT TIME ZONE 'UTC')::date), count(*), count(entry),
      count(*) FILTER (WHERE status >= 400), sum(prompt_tokens), sum(cached_tokens), sum(completion_tokens), sum(cost_nano),
      sum(excess_nano)
    FROM ${partition} GROUP BY 1, 2, 3, 4
    ON CONFLICT (workspace_id, key_id, model, day) DO UPDATE SET
      generations = kept.generations + excluded.generations, charges = kept.charges + excluded.charges,
      failed = kept.failed + excluded.failed, prompt_tokens = kept.prompt_tokens + excluded.prompt_tokens,
      cached_tokens = kept.cached_tokens + excluded.cached_tokens,
      completion_tokens = kept.completion_tokens + excluded.completion_tokens,
      cost_nano = kept.cost_nano + excluded.cost_nano, excess_nano = kept.excess_nano + excluded.excess_nano`;
  await tx`
    INSERT INTO retained_entries AS kept (workspace_id, sequence)
    SELECT workspace_id, max(entry) FROM ${partition} WHERE entry IS NOT NULL GROUP BY workspace_id
    ON CONFLICT (workspace_id) DO UPDATE SET sequence = greatest(kept.sequence, excluded.sequence)`;
  const [row] = await tx<{ generations: bigint; bytes: bigint }[]>`
    WITH counted AS (SELECT count(*) AS generations FROM ${partition}),
    noted AS (INSERT INTO retained_months (month, generations) SELECT ${month}, generations FROM counted)
    SELECT generations, pg_total_relation_size(${partitionPrefix + month.replace("-", "_")}::regclass) AS bytes FROM counted`;
  await tx`DROP TABLE ${partition}`;
  return { month, generations: Number(row?.generations ?? 0), bytes: Number(row?.bytes ?? 0) };
}

/** The rows are needed until the sums of usage are made from them. */
async function requireRolledUp(month: Month, tx: Transaction): Promise<void> {
  const rolledUp = await tx`SELECT FROM usage_state WHERE closed_before >= ${firstGenerationId(monthBounds(month).endMs)}`;
  if (rolledUp.length > 0) return;
  throw new DomainError("conflict", `Cannot delete ${month}: its usage is still being summed; try again later`);
}
