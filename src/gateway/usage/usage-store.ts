/** Reads usage in one snapshot. */
import { type Database, type Transaction, allowStatements } from "../../backing/backing.ts";
import { usageStatementMsMax, usageWorkMemoryBytes } from "../limits.ts";
import { selectSeries, selectState, selectSums, type SumsQuery, type UsageRowSums, type UsageState } from "./usage-sums-store.ts";

export interface UsageQuery extends Omit<SumsQuery, "only"> {
  /** How many of the dearest names are listed by period, and the others as one sum each; null: all by period. */
  seriesMax: number | null;
}

export interface UsageAnswer {
  /** At most `rowsMax` rows, those with the highest charges, and then the sums of all others. */
  rows: UsageRowSums[];
  /** The sums of each period, whatever the names, where only some are listed by period. */
  periods: UsageRowSums[];
}

export function selectUsage(query: UsageQuery, sql: Database): Promise<UsageAnswer> {
  return sql.begin("isolation level repeatable read read only", async (tx) => {
    await allowStatements(usageStatementMsMax, tx);
    // Compiling such a query takes longer than running it, and its few groups are found by hashes in half the time of sorting for them.
    await tx`
      SELECT set_config('jit', 'off', true), set_config('enable_sort', 'off', true), set_config('work_mem', ${`${usageWorkMemoryBytes / 1024}kB`}, true)`;
    const state = await selectState(query.workspace, tx);
    const { seriesMax } = query;
    if (seriesMax === null) return { rows: await selectSums(query, state, tx), periods: [] };
    return selectDearest({ ...query, seriesMax }, state, tx);
  }) as Promise<UsageAnswer>;
}

/** The days of all names are many times as many sums as their whole spans, and the days of few names and of the workspace. */
async function selectDearest(
  query: UsageQuery & { seriesMax: number },
  state: UsageState,
  tx: Transaction,
): Promise<UsageAnswer> {
  const { starts, rowsMax, seriesMax } = query;
  const othersMax = Math.max(0, rowsMax - seriesMax * starts.length);
  const names = await selectSums({ ...query, starts: starts.slice(0, 1), rowsMax: seriesMax + othersMax }, state, tx);
  const dearest = names.filter(({ isRest }) => !isRest).slice(0, seriesMax);
  const others = names.filter((row) => !dearest.includes(row)).map((row) => ({ ...row, period: 0 }));
  const only = { rows: dearest, series: await selectSeries(query, dearest, tx) };
  const listed = dearest.length === 0 ? [] : await selectSums({ ...query, only }, state, tx);
  return { rows: [...others, ...listed], periods: await selectSums({ ...query, by: new Set() }, state, tx) };
}
