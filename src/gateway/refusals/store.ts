/**
 * All SQL of refused calls. Calls are counted by the minute and by the day in UTC, so that a month is read from a few rows. Of the calls with
 * their messages a workspace keeps its newest; a write deletes the ones that it pushes out. All writers add counts in one order, so that two
 * of them never wait for each other in a circle.
 */
import type { Database, Queries } from "../../backing/backing.ts";
import { arrayText } from "../../backing/sql-text.ts";
import type { ErrorCode } from "../../kernel/errors.ts";
import { firstRequestId, type KeyId, type WorkspaceId } from "../../kernel/ids.ts";
import { byCodeUnits } from "../../kernel/text.ts";
import { refusedKeptMax } from "./limits.ts";
import type { RefusedEndpoint } from "./schema.ts";

/** The lengths of time that are counted, in minutes. */
export const spans = { minute: 1, day: 1_440 } as const;

export interface RefusalCount {
  /** Empty: no key is known. */
  workspace: WorkspaceId;
  /** Empty also for the keys that are not counted one by one. */
  key: KeyId;
  code: ErrorCode;
  span: (typeof spans)[keyof typeof spans];
  /** Minutes since 1970 in UTC, a multiple of the span. */
  start: number;
  calls: number;
}

/** What a count is of, as one text. */
export function nameOfCount({ workspace, key, code, span, start }: RefusalCount): string {
  return `${workspace} ${span} ${start} ${key} ${code}`;
}

/** A refused call with its message. */
export interface RefusedRow {
  id: string;
  workspace: WorkspaceId;
  /** The caller: a key, or a member in the Workbench. */
  key: KeyId;
  at: Date;
  endpoint: RefusedEndpoint;
  status: number;
  code: ErrorCode;
  model: string | null;
  message: string;
  param: string | null;
  retryAfterMs: number | null;
}

/** Adds counts, each once, and calls, in one transaction. */
export async function addRefusals(
  { counts, rows }: { counts: RefusalCount[]; rows: RefusedRow[] },
  sql: Database,
): Promise<void> {
  await sql.begin(async (tx) => {
    await addCounts(counts, tx);
    if (rows.length === 0) return;
    await insertRows(rows, tx);
    await deleteBeyondNewest([...new Set(rows.map(({ workspace }) => workspace))], tx);
  });
}

async function addCounts(counts: RefusalCount[], tx: Queries): Promise<void> {
  const added = counts.toSorted((one, other) => byCodeUnits(nameOfCount(one), nameOfCount(other)));
  const column = (read: (row: RefusalCount) => string | number): string => arrayText(added, read);
  await tx`
    INSERT INTO refused_calls AS kept (workspace_id, span, start, key_id, code, calls)
    SELECT * FROM unnest(${column(({ workspace }) => workspace)}::text[], ${column(({ span }) => span)}::smallint[],
      ${column(({ start }) => start)}::integer[], ${column(({ key }) => key)}::text[], ${column(({ code }) => code)}::text[],
      ${column(({ calls }) => calls)}::bigint[])
    ON CONFLICT (workspace_id, span, start, key_id, code) DO UPDATE SET calls = kept.calls + excluded.calls`;
}

async function insertRows(rows: RefusedRow[], tx: Queries): Promise<void> {
  const column = (read: (row: RefusedRow) => string | number | null): string => arrayText(rows, read);
  await tx`
    INSERT INTO refused_requests (id, workspace_id, key_id, at, endpoint, status, code, model, message, param, retry_after_ms)
    SELECT * FROM unnest(${column(({ id }) => id)}::text[], ${column(({ workspace }) => workspace)}::text[],
      ${column(({ key }) => key)}::text[], ${column(({ at }) => at.toISOString())}::timestamptz[],
      ${column(({ endpoint }) => endpoint)}::text[], ${column(({ status }) => status)}::smallint[],
      ${column(({ code }) => code)}::text[], ${column(({ model }) => model)}::text[], ${column(({ message }) => message)}::text[],
      ${column(({ param }) => param)}::text[], ${column(({ retryAfterMs }) => retryAfterMs)}::bigint[])
    ON CONFLICT (id) DO NOTHING`;
}

/** Gateways that write at the same moment do not see each other's rows: the next write deletes those that are too many. */
async function deleteBeyondNewest(workspaces: WorkspaceId[], tx: Queries): Promise<void> {
  await tx`
    DELETE FROM refused_requests AS old USING (
      SELECT workspace, (
        SELECT id FROM refused_requests WHERE workspace_id = workspace ORDER BY id DESC OFFSET ${refusedKeptMax} LIMIT 1
      ) AS newest_too_many
      FROM unnest(${arrayText(workspaces, (id) => id)}::text[]) AS named (workspace)
    ) AS bounds
    WHERE workspace_id = workspace AND id <= newest_too_many`;
}

/** @returns whether there may be more */
export async function deleteOldRefusals(
  { beforeMs, limit }: { beforeMs: number; limit: number },
  sql: Queries,
): Promise<boolean> {
  const before = Math.floor(beforeMs / 60_000);
  const counts = await sql`
    DELETE FROM refused_calls WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM refused_calls WHERE start < ${before} AND start + span <= ${before} LIMIT ${limit}))`;
  const rows = await sql`
    DELETE FROM refused_requests WHERE id IN (
      SELECT id FROM refused_requests WHERE id < ${firstRequestId(beforeMs)} LIMIT ${limit})`;
  return counts.count === limit || rows.count === limit;
}

// Reading

interface RefusedPage {
  /** null: all workspaces, and calls without a known key. */
  workspace: WorkspaceId | null;
  /** null: all callers. */
  keys: readonly KeyId[] | null;
  code: string | null;
  fromMs: number | null;
  toMs: number | null;
}

export interface RefusedListPage extends RefusedPage {
  endpoint: string | null;
  model: string | null;
  /** Only older ones than this; null: from the newest. */
  before: string | null;
  limit: number;
}

function columns(sql: Queries) {
  return sql`id, workspace_id AS workspace, key_id AS key, at, endpoint, status, code, model, message, param,
    retry_after_ms::integer AS "retryAfterMs"`;
}

/** The kept calls of a workspace, newest first. */
export async function selectRefused(page: RefusedListPage, sql: Queries): Promise<RefusedRow[]> {
  const { workspace, keys, code, endpoint, model, fromMs, toMs, before, limit } = page;
  return sql<RefusedRow[]>`
    SELECT ${columns(sql)} FROM refused_requests
    WHERE true ${workspace === null ? sql`` : sql`AND workspace_id = ${workspace}`} ${ofKeys(keys, sql)} ${ofCode(code, sql)}
      ${endpoint === null ? sql`` : sql`AND endpoint = ${endpoint}`} ${model === null ? sql`` : sql`AND model = ${model}`}
      ${fromMs === null ? sql`` : sql`AND at >= ${new Date(fromMs)}`} ${toMs === null ? sql`` : sql`AND at < ${new Date(toMs)}`}
      ${before === null ? sql`` : sql`AND id < ${before}`}
    ORDER BY id DESC LIMIT ${limit}`;
}

export async function selectRefusedCall(id: string, sql: Queries): Promise<RefusedRow | undefined> {
  const [row] = await sql<RefusedRow[]>`SELECT ${columns(sql)} FROM refused_requests WHERE id = ${id}`;
  return row;
}

/** Its times are whole minutes. */
interface CountedPage extends RefusedPage {
  fromMs: number;
  toMs: number;
  isUntilNow: boolean;
}

/** What a row of counts is of, besides the code. */
interface CountedBy {
  /** null: the whole time. */
  period: "minute" | "hour" | "day" | null;
  key: boolean;
}

interface CountedRow {
  /** Minutes since 1970 in UTC; 0: the whole time. */
  start: number;
  /** Empty: no key is known, or the row is of all keys. */
  key: KeyId;
  code: string;
  calls: bigint;
}

/**
 * Sums of counts, by period and then by calls. Whole days are read from the rows of days, the rest from those of minutes.
 */
export async function selectRefusalCounts(
  { page, by, limit }: { page: CountedPage; by: CountedBy; limit: number },
  sql: Queries,
): Promise<CountedRow[]> {
  const { workspace, keys, code } = page;
  const [from, to] = [page.fromMs / 60_000, page.toMs / 60_000];
  const firstDay = Math.ceil(from / spans.day) * spans.day;
  // Nothing is counted after now, so the row of an unfinished day is that of its part.
  const endDay = (page.isUntilNow ? Math.ceil(to / spans.day) : Math.floor(to / spans.day)) * spans.day;
  const hasDays = firstDay < endDay && by.period !== "minute" && by.period !== "hour";
  const ofSpan = (span: number, start: number, end: number) => sql`(span = ${span} AND start >= ${start} AND start < ${end})`;
  const within = hasDays
    ? sql`${ofSpan(spans.minute, from, firstDay)} OR ${ofSpan(spans.day, firstDay, endDay)} OR ${ofSpan(spans.minute, endDay, to)}`
    : ofSpan(spans.minute, from, to);
  const length = by.period === null ? null : { minute: 1, hour: 60, day: spans.day }[by.period];
  return sql<CountedRow[]>`
    SELECT ${length === null ? sql`0` : sql`start - start % ${length}::integer`} AS start, ${by.key ? sql`key_id` : sql`''`} AS key, code,
      sum(calls)::bigint AS calls
    FROM refused_calls
    WHERE (${within}) ${workspace === null ? sql`` : sql`AND workspace_id = ${workspace}`} ${ofKeys(keys, sql)} ${ofCode(code, sql)}
    GROUP BY 1, 2, 3 ORDER BY 1, 4 DESC, 3, 2 LIMIT ${limit}`;
}

function ofKeys(keys: readonly KeyId[] | null, sql: Queries) {
  return keys === null ? sql`` : sql`AND key_id = ANY (${arrayText(keys, (key) => key)}::text[])`;
}

function ofCode(code: string | null, sql: Queries) {
  return code === null ? sql`` : sql`AND code = ${code}`;
}
