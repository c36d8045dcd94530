/**
 * Reads usage in one snapshot: the rolled-up sums, and beyond their bound the generations themselves. So every answer is exact, and equals
 * the ledger's charges to the nano-dollar. Blocks from eight days down to a quarter of an hour cover a period with the fewest rows, and the
 * kinds of sums (by all, by key, by model, total) let a query read the smallest one that answers it. Rows beyond a bound, those with the
 * lowest charges, become one sum. A request counts when it was accepted, as in the log and in the months of limits.
 *
 * Counts of codes and of times of the first token are read in the same way. There are such counts by key, by model and in total, but none by
 * both key and model: those would be nearly as many as the requests.
 */
import { type Database, type Transaction, allowStatements, type Queries } from "../../backing/backing.ts";
import type { KeyId, WorkspaceId } from "../../kernel/ids.ts";
import type { NanoUsd } from "../../kernel/money.ts";
import { usageStatementMsMax, usageWorkMemoryBytes, seriesLookedUpMax } from "../limits.ts";
import { blocksOf, spansOfCounts } from "./periods.ts";
import type { UsageDimension } from "./schema.ts";

export interface UsageQuery extends Omit<SumsQuery, "only"> {
  /** How many of the highest names are listed by period; the others have one sum each. null: all by period. */
  seriesMax: number | null;
}

interface UsageAnswer {
  /** At most `rowsMax` rows, those with the highest charges, and then the sums of all others. */
  rows: UsageRowSums[];
  /** The sums of each period over all names, if only some names are listed by period. */
  periods: UsageRowSums[];
}

export function selectUsage(query: UsageQuery, sql: Database): Promise<UsageAnswer> {
  return sql.begin("isolation level repeatable read read only", async (tx) => {
    await prepareReading(tx);
    const state = await selectState(query.workspace, tx);
    const { seriesMax } = query;
    if (seriesMax === null) return { rows: await selectSums(query, state, tx), periods: [] };
    return selectHighest({ ...query, seriesMax }, state, tx);
  }) as Promise<UsageAnswer>;
}

/** JIT compilation of such a query takes longer than running it, and hashing finds its few groups in half the time of sorting. */
async function prepareReading(tx: Transaction): Promise<void> {
  await allowStatements(usageStatementMsMax, tx);
  await tx`
    SELECT set_config('jit', 'off', true), set_config('enable_sort', 'off', true), set_config('work_mem', ${`${usageWorkMemoryBytes / 1024}kB`}, true)`;
}

/** Reads all names over the whole span, then the highest and the workspace by period: many times fewer sums than all names by period. */
async function selectHighest(
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

// Sums

interface SumsQuery {
  workspace: WorkspaceId;
  /** null: any. */
  keys: KeyId[] | null;
  model: string | null;
  /** null or absent: any. */
  provider?: string | null;
  /** Beginnings of the periods, in quarters of an hour since 1970, ascending. */
  starts: number[];
  /** The quarter that ends the last period. */
  end: number;
  by: ReadonlySet<UsageDimension>;
  rowsMax: number;
  /** By which sum the highest rows are found; absent: by charges. */
  rank?: UsageRank;
  /** Absent: all names. */
  only?: KeptNames;
}

export type UsageRank = "spend" | "requests" | "errors" | "tokens";

/** Some of the names, as rows of an answer over the whole span have them. */
interface KeptNames {
  rows: readonly UsageRowSums[];
  /** Ids of the series that have these names, of the kind that the query reads. */
  series: bigint[];
}

/** Names are null for dimensions that were not requested. The key is empty for requests of the Workbench. */
export interface UsageRowSums {
  /** From 1, the place of its beginning in the query; 0: of several periods. */
  period: number;
  key: KeyId | null;
  keyName: string | null;
  member: string | null;
  model: string | null;
  provider: string | null;
  endpoint: string | null;
  /** How many rows it sums; above one only in the row that sums the rest. */
  rows: bigint;
  isRest: boolean;
  requests: bigint;
  errors: bigint;
  promptTokens: bigint;
  cachedTokens: bigint;
  cacheWriteTokens: bigint;
  completionTokens: bigint;
  charge: NanoUsd;
  listCost: NanoUsd;
}

/** The bound up to which usage is rolled up. */
interface UsageState {
  closed: string;
  summedBefore: number;
  /** The quarter after the last one of the workspace that has sums. */
  sumsEnd: number;
}

/** The kinds of sums, each with far fewer rows than the one by all. */
const kinds = { byAll: 0, byKey: 1, byModel: 2, total: 3 };

function numberOf(workspace: WorkspaceId, sql: Queries) {
  return sql`(SELECT number FROM workspaces WHERE id = ${workspace})`;
}

function kindOf({ keys, model, provider = null, by }: SumsQuery): number {
  const areKeys = keys !== null || by.has("key") || by.has("member");
  const areModels = model !== null || provider !== null || by.has("model") || by.has("provider") || by.has("endpoint");
  if (areKeys) return areModels ? kinds.byAll : kinds.byKey;
  return areModels ? kinds.byModel : kinds.total;
}

async function selectState(workspace: WorkspaceId, tx: Transaction): Promise<UsageState> {
  const [state] = await tx<UsageState[]>`
    SELECT coalesce((SELECT closed_before FROM usage_state), '') AS closed,
      coalesce((SELECT summed_before FROM usage_state), 0) AS "summedBefore",
      coalesce((SELECT max(start) + 1 FROM usage_sums WHERE workspace = ${numberOf(workspace, tx)} AND kind = ${kinds.total} AND span = 1), 0)
        AS "sumsEnd"`;
  if (state === undefined) throw new Error("The query of the usage's state gave no row");
  return state;
}

/** Above the ids of all generations. A range with two bounds is what makes the planner use the index. */
const afterAllIds = "gen-~";

/** The blocks of all periods, each with the number of its period, from 1. */
function blocksOfPeriods(
  { starts, end }: Pick<SumsQuery, "starts" | "end">,
  { summedBefore, sumsEnd }: UsageState,
  spans?: number[],
) {
  return starts.flatMap((from, index) => {
    const to = Math.min(starts[index + 1] ?? end, sumsEnd);
    return blocksOf({ from, to, summedBefore }, spans).map((block) => ({ ...block, period: index + 1 }));
  });
}

/** The workspace's rows that the query asks for, by columns that series and generations have. */
function ownRows(
  { workspace, keys, model, provider = null }: Pick<SumsQuery, "workspace" | "keys" | "model" | "provider">,
  sql: Queries,
) {
  return sql`workspace_id = ${workspace} ${keys === null ? sql`` : sql`AND key_id = ANY(${keys}::text[])`}
    ${model === null ? sql`` : sql`AND model = ${model}`} ${provider === null ? sql`` : sql`AND provider = ${provider}`}`;
}

function ofKind(query: SumsQuery, sql: Queries) {
  const kind = kindOf(query);
  return sql`(key_id = '*') = ${kind >= kinds.byModel} AND (model = '*') = ${kind === kinds.byKey || kind === kinds.total}`;
}

/** The series of names, to read only their periods. */
async function selectSeries(query: SumsQuery, rows: readonly UsageRowSums[], tx: Transaction): Promise<bigint[]> {
  const found = await tx<{ id: bigint }[]>`
    SELECT id FROM (
      SELECT series.id, ${names(query, tx)}
      FROM (SELECT * FROM usage_series WHERE ${ownRows(query, tx)} AND ${ofKind(query, tx)}) AS series ${callers(tx)}
    ) AS named ${keeping(query, rows, tx)}`;
  return found.map(({ id }) => id);
}

/** Whether so few series are read that each block of each is looked up. */
function isNarrow({ keys, model, provider = null, only }: SumsQuery): boolean {
  return keys !== null || model !== null || provider !== null || (only !== undefined && only.series.length <= seriesLookedUpMax);
}

/** @returns at most `rowsMax` rows, the highest, and one with the sum of all others */
async function selectSums(query: SumsQuery, state: UsageState, tx: Transaction): Promise<UsageRowSums[]> {
  const { workspace, starts, end, rowsMax, only } = query;
  const { closed } = state;
  const highest = highestFirst(query, tx);
  const kind = kindOf(query);
  const blocks = blocksOfPeriods(query, state);
  const [first = end] = starts;
  const areLookedUp = isNarrow(query);
  const own = ownRows(query, tx);
  const within = tx`quarter >= ${first} AND quarter < ${end}`;
  const part = tx`key_id, model, provider, endpoint, period, requests, errors, prompt_tokens, cached_tokens, cache_write_tokens,
    completion_tokens, charge_nano, list_nano`;
  const period = tx`width_bucket(quarter, ${starts}::integer[]) AS period`;
  return tx<UsageRowSums[]>`
    WITH series AS MATERIALIZED (
      SELECT id, key_id, model, provider, endpoint FROM usage_series
      WHERE ${own} AND ${ofKind(query, tx)} ${only ? tx`AND id = ANY(${only.series}::bigint[])` : tx``}
    ), summed AS (
      SELECT period, series_id, ${sums(tx)} FROM unnest(
        ${blocks.map(({ period }) => period)}::integer[], ${blocks.map(({ span }) => span)}::smallint[],
        ${blocks.map(({ from }) => from)}::integer[], ${blocks.map(({ to }) => to)}::integer[]
      ) AS block (period, block_span, block_from, block_to)
      ${areLookedUp ? tx`CROSS JOIN generate_series(block_from, block_to - 1, block_span::integer) AS block_start CROSS JOIN series AS one` : tx``}
      CROSS JOIN LATERAL (
        SELECT usage_sums.* FROM usage_sums
        WHERE workspace = ${numberOf(workspace, tx)} AND kind = ${kind} AND span = block_span
          AND ${areLookedUp ? tx`start = block_start AND series_id = one.id` : tx`start >= block_from AND start < block_to`}
        -- Otherwise the planner may read all sums of the workspace, and then choose among them.
        OFFSET 0
      ) AS in_block
      GROUP BY period, series_id
    ), part AS (
      SELECT ${part} FROM summed JOIN series ON series.id = series_id
      UNION ALL
      SELECT ${part} FROM (
        SELECT *, ${period} FROM generation_usage
        WHERE generation_id >= ${closed} AND generation_id < ${afterAllIds} AND ${own} AND ${within}
      ) AS newest
      UNION ALL
      SELECT ${part} FROM (SELECT *, ${period} FROM usage_late WHERE generation_id < ${closed} AND ${own} AND ${within}) AS late
    ), named AS (
      SELECT period, ${names(query, tx)}, ${sums(tx)} FROM part ${callers(tx)}
      GROUP BY 1, 2, 3, 4, 5, 6, 7 HAVING whole_sum(requests) <> 0
    ), listed AS (
      SELECT named.* FROM named ${only ? keeping(query, only.rows, tx) : tx``}
    ), placed AS (
      SELECT *, row_number() OVER (ORDER BY ${highest}, period, key, model, provider, endpoint, member)
        > ${rowsMax} AS is_rest FROM listed
    ), shown AS (
      SELECT *, 1::bigint AS rows FROM placed WHERE NOT is_rest
      UNION ALL
      SELECT 0, NULL, NULL, NULL, NULL, NULL, NULL, ${sums(tx)}, true, count(*) FROM placed WHERE is_rest HAVING count(*) > 0
    )
    SELECT period, key, key_name AS "keyName", member, model, provider, endpoint, requests, errors,
      prompt_tokens AS "promptTokens", cached_tokens AS "cachedTokens", cache_write_tokens AS "cacheWriteTokens",
      completion_tokens AS "completionTokens", charge_nano AS charge, list_nano AS "listCost", is_rest AS "isRest", rows
    FROM shown ORDER BY period, ${highest}, key, model, provider, endpoint, member`;
}

/** Charges decide where the asked sums are equal, and requests where those are, too. */
function highestFirst({ rank = "spend" }: SumsQuery, sql: Queries) {
  const charges = sql`charge_nano DESC, list_nano DESC, requests DESC`;
  if (rank === "spend") return charges;
  if (rank === "tokens") return sql`prompt_tokens + completion_tokens DESC, ${charges}`;
  return sql`${sql(rank)} DESC, ${charges}`;
}

/** Joins `named` with these rows by the requested names. */
function keeping({ by }: SumsQuery, rows: readonly UsageRowSums[], sql: Queries) {
  const isSame = [...by].map((name) => sql`AND named.${sql(name)} = kept.${sql(name)}`);
  const of = (name: UsageDimension) => rows.map((row) => row[name]);
  return sql`JOIN unnest(${of("key")}::text[], ${of("member")}::text[], ${of("model")}::text[], ${of("provider")}::text[], ${of("endpoint")}::text[])
    AS kept (key, member, model, provider, endpoint) ON true ${isSame}`;
}

/** The name behind a `key_id`. */
function callers(sql: Queries) {
  return sql`LEFT JOIN api_keys AS of_request ON of_request.id = key_id LEFT JOIN members AS of_workbench ON of_workbench.caller_id = key_id`;
}

function sums(sql: Queries) {
  return sql`whole_sum(requests) AS requests, whole_sum(errors) AS errors, whole_sum(prompt_tokens) AS prompt_tokens,
    whole_sum(cached_tokens) AS cached_tokens, whole_sum(cache_write_tokens) AS cache_write_tokens,
    whole_sum(completion_tokens) AS completion_tokens, whole_sum(charge_nano) AS charge_nano, whole_sum(list_nano) AS list_nano`;
}

/** The six columns to group by. In the Workbench a member is the caller: such rows have an empty key. */
function names({ by }: SumsQuery, sql: Queries) {
  const named = (dimension: UsageDimension, column: ReturnType<typeof sums>) => (by.has(dimension) ? column : sql`NULL::text`);
  const isWorkbench = sql`key_id LIKE 'mbr-%'`;
  return sql`${named("key", sql`CASE WHEN ${isWorkbench} THEN '' ELSE key_id END`)} AS key,
    ${named("key", sql`coalesce(of_request.name, CASE WHEN ${isWorkbench} THEN 'Workbench' ELSE '' END)`)} AS key_name,
    ${named("member", sql`coalesce(of_request.owner_email, of_workbench.email, '')`)} AS member,
    ${named("model", sql`model`)} AS model, ${named("provider", sql`provider`)} AS provider, ${named("endpoint", sql`endpoint`)} AS endpoint`;
}

// Counts

/** `errors`: by code. `first_token`: by the number of the range, as a text. */
export type Counted = "errors" | "first_token";

/** Of keys, or of a model or a provider, or of neither. */
export type CountsQuery = Pick<SumsQuery, "workspace" | "keys" | "model" | "provider" | "starts" | "end">;

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
  const { workspace, keys, model, provider = null, starts, end } = query;
  const blocks = blocksOfPeriods({ starts, end }, state, spansOfCounts);
  const kind = keys !== null ? kinds.byKey : model !== null || provider !== null ? kinds.byModel : kinds.total;
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
