/**
 * Reads how many requests ended with which code, and how many had their first token within which range of times, by period. As in store.ts,
 * one snapshot has the rolled-up counts and, beyond their bound, the generations themselves, so the codes of a period add up to its errors.
 * A query reads the blocks of its periods and at most a minute of the log, however many requests there were.
 *
 * There are counts by key, by model and in total, but none by both key and model: those would be nearly as many as the requests.
 */
import type { Database, Transaction } from "../../backing/backing.ts";
import {
  afterAllIds,
  blocksOfPeriods,
  kinds,
  numberOf,
  ownRows,
  prepareReading,
  selectState,
  type SumsQuery,
  type UsageState,
} from "./store.ts";

/** `errors`: by code. `first_token`: by the number of the range, as a text. */
export type Counted = "errors" | "first_token";

/** Of keys, or of a model, or of neither. */
export type CountsQuery = Pick<SumsQuery, "workspace" | "keys" | "model" | "starts" | "end">;

export interface CountRow {
  /** From 1, the place of its beginning in the query. */
  period: number;
  name: string;
  requests: bigint;
}

export function selectCounts(query: CountsQuery, counted: Counted, sql: Database): Promise<CountRow[]> {
  return sql.begin("isolation level repeatable read read only", async (tx) => {
    await prepareReading(tx);
    return selectNames(query, { counted, state: await selectState(query.workspace, tx) }, tx);
  }) as Promise<CountRow[]>;
}

/** The numbers of ranges are digits, which are less than `:`, and codes begin with letters, which are greater. */
async function selectNames(
  query: CountsQuery,
  { counted, state }: { counted: Counted; state: UsageState },
  tx: Transaction,
): Promise<CountRow[]> {
  const { workspace, keys, model, starts, end } = query;
  const blocks = blocksOfPeriods({ starts, end }, state);
  const kind = keys !== null ? kinds.byKey : model !== null ? kinds.byModel : kinds.total;
  const own = ownRows(query, tx);
  const within = tx`quarter >= ${starts[0] ?? end} AND quarter < ${end}`;
  const period = tx`width_bucket(quarter, ${starts}::integer[]) AS period`;
  const name = counted === "errors" ? tx`error` : tx`first_token`;
  const asked = counted === "errors" ? tx`name >= ':'` : tx`name < ':'`;
  return tx<CountRow[]>`
    WITH series AS MATERIALIZED (
      SELECT id FROM usage_series WHERE ${own}
        AND (key_id = '*') = ${kind !== kinds.byKey} AND (model = '*') = ${kind !== kinds.byModel}
    )
    SELECT period, name, whole_sum(requests) AS requests FROM (
      SELECT period, name, requests FROM unnest(
        ${blocks.map(({ period }) => period)}::integer[], ${blocks.map(({ span }) => span)}::smallint[],
        ${blocks.map(({ from }) => from)}::integer[], ${blocks.map(({ to }) => to)}::integer[]
      ) AS block (period, block_span, block_from, block_to)
      CROSS JOIN generate_series(block_from, block_to - 1, block_span::integer) AS block_start CROSS JOIN series AS one
      CROSS JOIN LATERAL (
        SELECT name, requests FROM usage_counts
        WHERE workspace = ${numberOf(workspace, tx)} AND kind = ${kind} AND span = block_span AND start = block_start
          AND series_id = one.id AND ${asked}
        -- Otherwise the planner may read all counts of the workspace, and then choose among them.
        OFFSET 0
      ) AS in_block
      UNION ALL
      SELECT ${period}, ${name} AS name, requests FROM generation_usage
      WHERE generation_id >= ${state.closed} AND generation_id < ${afterAllIds} AND ${own} AND ${within}
      UNION ALL
      SELECT ${period}, ${name}, requests FROM usage_late WHERE generation_id < ${state.closed} AND ${own} AND ${within}
    ) AS part WHERE name IS NOT NULL
    GROUP BY period, name HAVING whole_sum(requests) <> 0 ORDER BY period, name`;
}
