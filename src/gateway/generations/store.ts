/**
 * All SQL that reads ended generations, newest first. Their indexes have hashes of ids in place of ids, so each condition names both: the
 * hash finds the rows, and the id selects the right ones. A page is found by ranges of ids, which carry the gateway's time, and bounded by
 * times of admission, which are the counters'. metering/store.ts writes them.
 */
import type { Queries } from "../../backing/backing.ts";
import { monthBounds, monthOf, previousMonth, type Month } from "../../kernel/clock.ts";
import { firstGenerationId, timeOfId, type GenerationId, type KeyId, type WorkspaceId } from "../../kernel/ids.ts";
import type { NanoUsd } from "../../kernel/money.ts";
import { readFields, type GenerationRow } from "../generation-fields.ts";
import type { Settlement } from "../journal/settlement.ts";
import { logSkewMs } from "../limits.ts";

export interface LogPage {
  /** Only generations before this one; null: from the newest. */
  before: GenerationId | null;
  /** Only generations of this model; null: of all. */
  model: string | null;
  /** Only generations that were admitted from this time on, in milliseconds; null: from the first. */
  fromMs: number | null;
  /** Only generations that were admitted before this time; null: to the newest. */
  toMs: number | null;
  limit: number;
}

/** Where to read, and which columns. */
export interface Reading {
  sql: Queries;
  columns: typeof allColumns;
}

const readList = readFields.map(({ name, field }) => `${name} AS "${field}"`).join(", ");

/** The columns of a `GenerationRow`. */
export function allColumns(sql: Queries) {
  return sql`${sql.unsafe(readList)}`;
}

/** The columns that a search checks. */
export function soughtColumns(sql: Queries) {
  return sql`generation_id AS generation, model, provider, endpoint, status, code`;
}

type LogRange = Pick<LogPage, "before" | "fromMs" | "toMs">;

/** The upper bound of a page's ids; null: none. */
function newestOf({ before, toMs }: LogRange): GenerationId | null {
  if (toMs === null) return before;
  const bound = firstGenerationId(toMs + logSkewMs);
  return before !== null && before < bound ? before : bound;
}

function oldestOf({ fromMs }: LogRange): GenerationId | null {
  return fromMs === null ? null : firstGenerationId(Math.max(0, fromMs - logSkewMs));
}

/** Ranges of ids find the rows, and times of admission select the right ones: an id is made a moment earlier, by another clock. */
function within(range: LogRange, sql: Queries) {
  const newest = newestOf(range);
  const { fromMs, toMs } = range;
  return sql`${newest === null ? sql`` : sql`AND generation_id < ${newest}`} ${notBefore(oldestOf(range), sql)}
    ${fromMs === null ? sql`` : sql`AND admitted_at >= ${new Date(fromMs)}`} ${toMs === null ? sql`` : sql`AND admitted_at < ${new Date(toMs)}`}`;
}

function notBefore(oldest: GenerationId | null, sql: Queries) {
  return oldest === null ? sql`` : sql`AND generation_id >= ${oldest}`;
}

function ofWorkspace(workspace: WorkspaceId, sql: Queries) {
  return sql`hashtext(workspace_id) = hashtext(${workspace}) AND workspace_id = ${workspace}`;
}

/** The newest of one model. */
async function selectLogOfModel<Row extends object>(
  { workspace, model, ...page }: LogPage & { workspace: WorkspaceId; model: string },
  { sql, columns }: Reading,
): Promise<Row[]> {
  return sql<Row[]>`
    SELECT ${columns(sql)} FROM generations
    WHERE ${ofWorkspace(workspace, sql)} AND hashtext(model) = hashtext(${model}) AND model = ${model}
      ${within(page, sql)}
    ORDER BY generation_id DESC LIMIT ${page.limit}`;
}

type WorkspacePage = LogPage & { workspace: WorkspaceId };

/** The first look at a model reads one part in this many of a page: with as many models, it finds a whole page. */
const fewShare = 10;

/** Searches two months first, which nearly always have the whole page, and all months only if they do not. */
export async function selectLog<Row extends object>(page: WorkspacePage, nowMs: number, reading: Reading): Promise<Row[]> {
  const { model } = page;
  if (model !== null) return selectLogOfModel({ ...page, model }, reading);
  const newest = newestOf(page);
  const lastMonth = monthOf(newest === null ? nowMs : timeOfId(newest));
  const twoMonths = monthStart(previousMonth(lastMonth));
  const from = oldestOf(page);
  const first = from === null ? null : monthStart(monthOf(timeOfId(from)));
  if (first !== null && first >= twoMonths) return selectLogOfModels(page, first, reading);
  const recent = await selectLogOfModels<Row>(page, twoMonths, reading);
  return recent.length === page.limit ? recent : selectLogOfModels(page, first, reading);
}

function monthStart(month: Month): GenerationId {
  return firstGenerationId(Math.max(0, monthBounds(month).startMs));
}

/**
 * The newest of each of the workspace's models, found in the index one model after another, then the newest of these. A first look at a few
 * rows of each model finds a row that nothing on the page is older than, so few rows outside the page are read. `is_checked_late` makes the
 * planner search the index of models even for a rare one.
 * @param oldest the beginning of a month, so that no index is searched in its middle; null: all months
 */
async function selectLogOfModels<Row extends object>(
  page: WorkspacePage,
  oldest: GenerationId | null,
  { sql, columns }: Reading,
): Promise<Row[]> {
  const { workspace, limit } = page;
  const nextModel = (after: ReturnType<typeof within>) => sql`
    SELECT hashtext(model) FROM generations
    WHERE hashtext(workspace_id) = hashtext(${workspace}) ${notBefore(oldest, sql)} ${after}
    ORDER BY hashtext(model) LIMIT 1`;
  const ofUsedModel = sql`${ofWorkspace(workspace, sql)} AND hashtext(model) = used.model_hash
    AND is_checked_late(generation_id) ${within(page, sql)} ${notBefore(oldest, sql)}`;
  return sql<Row[]>`
    WITH RECURSIVE used (model_hash) AS (
      (${nextModel(sql``)})
      UNION ALL
      SELECT (${nextModel(sql`AND hashtext(model) > used.model_hash`)}) FROM used WHERE used.model_hash IS NOT NULL
    ), few AS (
      SELECT newest.generation_id FROM used CROSS JOIN LATERAL (
        SELECT generation_id FROM generations WHERE ${ofUsedModel} ORDER BY generation_id DESC LIMIT ${Math.ceil(limit / fewShare)}
      ) AS newest
      ORDER BY generation_id DESC OFFSET ${limit - 1} LIMIT 1
    )
    SELECT newest.* FROM used CROSS JOIN LATERAL (
      SELECT ${columns(sql)} FROM generations
      WHERE ${ofUsedModel} AND generation_id >= coalesce((SELECT generation_id FROM few), '')
      ORDER BY generation_id DESC LIMIT ${limit}
    ) AS newest
    ORDER BY generation DESC LIMIT ${limit}`;
}

/** Over all workspaces, by the primary key. */
export async function selectWholeLog<Row extends object>(page: LogPage, { sql, columns }: Reading): Promise<Row[]> {
  return sql<Row[]>`
    SELECT ${columns(sql)} FROM generations WHERE true ${within(page, sql)} ORDER BY generation_id DESC LIMIT ${page.limit}`;
}

/**
 * The newest of each key, then the newest of these. The planner does not see the limit of the inner rows: it expects few rows of a key,
 * and with a limit above this number it would read and sort all rows of the key.
 */
export async function selectLogOfKeys<Row extends object>(
  page: Omit<LogPage, "model"> & { keys: KeyId[] },
  { sql, columns }: Reading,
): Promise<Row[]> {
  const { keys, limit } = page;
  return sql<Row[]>`
    SELECT newest.* FROM unnest(${keys}::text[]) AS asked (key_id)
    CROSS JOIN LATERAL (
      SELECT ${columns(sql)} FROM generations
      WHERE hashtext(generations.key_id) = hashtext(asked.key_id) AND generations.key_id = asked.key_id COLLATE "C"
        ${within(page, sql)}
      ORDER BY generation_id DESC LIMIT (SELECT ${limit}::bigint)
    ) AS newest
    ORDER BY generation DESC LIMIT ${limit}`;
}

/** Newest first. Unknown ids are left out. */
export async function selectGenerations(generations: readonly GenerationId[], sql: Queries): Promise<GenerationRow[]> {
  if (generations.length === 0) return [];
  return sql<GenerationRow[]>`
    SELECT ${allColumns(sql)} FROM generations WHERE generation_id = ANY(${generations.slice()}::text[]) ORDER BY generation_id DESC`;
}

export async function selectGeneration(generation: GenerationId, sql: Queries): Promise<GenerationRow | undefined> {
  const [row] = await selectGenerations([generation], sql);
  return row;
}

/** By the value of `X-Request-Id`, which no index has: both ids are made in one millisecond, and the primary key finds those. */
export async function selectGenerationOfRequest(request: string, sql: Queries): Promise<GenerationRow | undefined> {
  const ms = timeOfId(request);
  const [row] = await sql<GenerationRow[]>`
    SELECT ${allColumns(sql)} FROM generations
    WHERE generation_id >= ${firstGenerationId(ms)} AND generation_id < ${firstGenerationId(ms + 1)} AND request_id = ${request}`;
  return row;
}

/** The parts of a generation's charge. */
interface BookedCost {
  outcome: Settlement["outcome"];
  /** The true cost in pico-USD. */
  costPico: bigint;
  /** The part of it above the charge; null: charged by an early version. */
  excess: NanoUsd | null;
}

export async function selectBookedCost(generation: GenerationId, sql: Queries): Promise<BookedCost | undefined> {
  const [row] = await sql<(Omit<BookedCost, "costPico"> & { costPico: string })[]>`
    SELECT outcome, cost_pico::text AS "costPico", excess_nano AS excess FROM generations WHERE generation_id = ${generation}`;
  return row && { ...row, costPico: BigInt(row.costPico) };
}
