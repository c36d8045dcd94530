/**
 * Reads ended generations, newest first. Their indexes have hashes of ids in place of ids, so each condition names both: the hash
 * finds the rows, the id is what is meant.
 */
import type { Queries } from "../../backing/backing.ts";
import { monthBounds, monthOf, previousMonth } from "../../kernel/clock.ts";
import { firstGenerationId, timeOfId, type GenerationId, type KeyId, type WorkspaceId } from "../../kernel/ids.ts";
import type { NanoUsd } from "../../kernel/money.ts";
import type { Endpoint, Settlement } from "../journal/settlement.ts";

export interface GenerationRow {
  generation: GenerationId;
  at: Date;
  request: string;
  workspace: WorkspaceId;
  /** Of the key, or of the member as the caller of the Workbench. */
  key: KeyId;
  /** null: chat completions. */
  endpoint: Endpoint | null;
  model: string;
  provider: string;
  status: number;
  code: string | null;
  streamed: boolean;
  promptTokens: number;
  cachedTokens: number;
  completionTokens: number;
  /** null: none. */
  cacheWriteTokens: number | null;
  reasoningTokens: number | null;
  tierAboveTokens: number | null;
  reserved: NanoUsd;
  cost: NanoUsd;
  ownKey: boolean;
  /** null: without an own key. */
  listCost: NanoUsd | null;
  usageEstimated: boolean;
  firstTokenMs: number | null;
  durationMs: number;
  /** null: the workspace had routing off. */
  routing: Settlement["routing"] | null;
}

export interface LogPage {
  /** Only generations before this one; null: from the newest. */
  before: GenerationId | null;
  /** Only generations of this model; null: of all. */
  model: string | null;
  limit: number;
}

function columns(sql: Queries) {
  return sql`generation_id AS generation, admitted_at AS at, request_id AS request, workspace_id AS workspace, key_id AS key, endpoint,
    model, provider, status, code, streamed, prompt_tokens AS "promptTokens", cached_tokens AS "cachedTokens",
    completion_tokens AS "completionTokens", cache_write_tokens AS "cacheWriteTokens", reasoning_tokens AS "reasoningTokens",
    tier_above_tokens AS "tierAboveTokens", reserved_nano AS reserved, cost_nano AS cost,
    own_key_id IS NOT NULL AS "ownKey", list_cost_nano AS "listCost",
    usage_estimated AS "usageEstimated", first_token_ms AS "firstTokenMs", duration_ms AS "durationMs", attempts AS routing`;
}

function older({ before }: LogPage, sql: Queries) {
  return before === null ? sql`` : sql`AND generation_id < ${before}`;
}

function notBefore(oldest: GenerationId | null, sql: Queries) {
  return oldest === null ? sql`` : sql`AND generation_id >= ${oldest}`;
}

function ofWorkspace(workspace: WorkspaceId, sql: Queries) {
  return sql`hashtext(workspace_id) = hashtext(${workspace}) AND workspace_id = ${workspace}`;
}

/** The newest of one model. */
async function selectLogOfModel(
  { workspace, model, ...page }: LogPage & { workspace: WorkspaceId; model: string },
  sql: Queries,
): Promise<GenerationRow[]> {
  return sql<GenerationRow[]>`
    SELECT ${columns(sql)} FROM generations
    WHERE ${ofWorkspace(workspace, sql)} AND hashtext(model) = hashtext(${model}) AND model = ${model}
      ${older({ ...page, model }, sql)}
    ORDER BY generation_id DESC LIMIT ${page.limit}`;
}

type WorkspacePage = LogPage & { workspace: WorkspaceId };

/** The first look at a model reads this part of a page: with so many models, it finds a whole page. */
const fewShare = 10;

/** Searches two months first, which nearly always have the whole page, and all months only if they do not. */
export async function selectLog(page: WorkspacePage, nowMs: number, sql: Queries): Promise<GenerationRow[]> {
  const { model, before } = page;
  if (model !== null) return selectLogOfModel({ ...page, model }, sql);
  const lastMonth = monthOf(before === null ? nowMs : timeOfId(before));
  const oldest = firstGenerationId(Math.max(0, monthBounds(previousMonth(lastMonth)).startMs));
  const recent = await selectLogOfModels(page, oldest, sql);
  return recent.length === page.limit ? recent : selectLogOfModels(page, null, sql);
}

/**
 * The newest of each of the workspace's models, which the index is searched for one after the other, then the newest of these. A first
 * look at a few rows of each model finds a row that the whole page is not older than, so that few rows are read that it does not have.
 * @param oldest the beginning of a month, so that no index is searched in its middle; null: all months
 */
async function selectLogOfModels(page: WorkspacePage, oldest: GenerationId | null, sql: Queries): Promise<GenerationRow[]> {
  const { workspace, limit } = page;
  const nextModel = (after: ReturnType<typeof older>) => sql`
    SELECT hashtext(model) FROM generations
    WHERE hashtext(workspace_id) = hashtext(${workspace}) ${notBefore(oldest, sql)} ${after}
    ORDER BY hashtext(model) LIMIT 1`;
  const ofUsedModel = sql`${ofWorkspace(workspace, sql)} AND hashtext(model) = used.model_hash ${older(page, sql)} ${notBefore(oldest, sql)}`;
  return sql<GenerationRow[]>`
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
export async function selectWholeLog(page: LogPage, sql: Queries): Promise<GenerationRow[]> {
  return sql<GenerationRow[]>`
    SELECT ${columns(sql)} FROM generations WHERE true ${older(page, sql)} ORDER BY generation_id DESC LIMIT ${page.limit}`;
}

/** The newest of each key, then the newest of these. */
export async function selectLogOfKeys(page: LogPage & { keys: KeyId[] }, sql: Queries): Promise<GenerationRow[]> {
  const { keys, model, limit } = page;
  return sql<GenerationRow[]>`
    SELECT newest.* FROM unnest(${keys}::text[]) AS asked (key_id)
    CROSS JOIN LATERAL (
      SELECT ${columns(sql)} FROM generations
      WHERE hashtext(generations.key_id) = hashtext(asked.key_id) AND generations.key_id = asked.key_id COLLATE "C"
        ${model === null ? sql`` : sql`AND model = ${model}`} ${older(page, sql)}
      ORDER BY generation_id DESC LIMIT ${limit}
    ) AS newest
    ORDER BY generation DESC LIMIT ${limit}`;
}

export async function selectGeneration(generation: GenerationId, sql: Queries): Promise<GenerationRow | undefined> {
  const [row] = await sql<GenerationRow[]>`SELECT ${columns(sql)} FROM generations WHERE generation_id = ${generation}`;
  return row;
}
