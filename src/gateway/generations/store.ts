import type { Queries } from "../../backing/backing.ts";
import type { GenerationId, KeyId, WorkspaceId } from "../../kernel/ids.ts";
import type { NanoUsd } from "../../kernel/money.ts";

export interface GenerationRow {
  generation: GenerationId;
  at: Date;
  request: string;
  workspace: WorkspaceId;
  key: KeyId;
  model: string;
  provider: string;
  status: number;
  code: string | null;
  streamed: boolean;
  promptTokens: bigint;
  cachedTokens: bigint;
  completionTokens: bigint;
  reserved: NanoUsd;
  cost: NanoUsd;
  usageEstimated: boolean;
  firstTokenMs: number | null;
  durationMs: number;
}

export interface LogPage {
  /** Only generations before this one; null: from the newest. */
  before: GenerationId | null;
  limit: number;
}

function columns(sql: Queries) {
  return sql`generation_id AS generation, at, request_id AS request, workspace_id AS workspace, key_id AS key, model, provider,
    status, code, streamed, prompt_tokens AS "promptTokens", cached_tokens AS "cachedTokens",
    completion_tokens AS "completionTokens", reserved_nano AS reserved, cost_nano AS cost,
    usage_estimated AS "usageEstimated", first_token_ms AS "firstTokenMs", duration_ms AS "durationMs"`;
}

function older(before: GenerationId | null, sql: Queries) {
  return before === null ? sql`` : sql`AND generation_id < ${before}`;
}

/** Newest first, by the index of the workspace. */
export async function selectLog(
  { workspace, before, limit }: LogPage & { workspace: WorkspaceId },
  sql: Queries,
): Promise<GenerationRow[]> {
  return sql<GenerationRow[]>`
    SELECT ${columns(sql)} FROM request_log
    WHERE workspace_id = ${workspace} ${older(before, sql)}
    ORDER BY generation_id DESC LIMIT ${limit}`;
}

/** Newest first over all workspaces, by the order of charges, each joined with its row. */
export async function selectWholeLog({ before, limit }: LogPage, sql: Queries): Promise<GenerationRow[]> {
  return sql<GenerationRow[]>`
    SELECT ${columns(sql)} FROM (
      SELECT workspace_id, generation_id FROM charges WHERE true ${older(before, sql)} ORDER BY generation_id DESC LIMIT ${limit}
    ) AS newest JOIN request_log USING (workspace_id, generation_id)
    ORDER BY generation_id DESC`;
}

/** Newest first over several keys: the newest rows of each key by its index, then the newest of these. */
export async function selectLogOfKeys(
  { keys, before, limit }: LogPage & { keys: KeyId[] },
  sql: Queries,
): Promise<GenerationRow[]> {
  return sql<GenerationRow[]>`
    SELECT newest.* FROM unnest(${keys}::text[]) AS asked (key_id)
    CROSS JOIN LATERAL (
      SELECT ${columns(sql)} FROM request_log
      WHERE request_log.key_id = asked.key_id COLLATE "C" ${older(before, sql)}
      ORDER BY generation_id DESC LIMIT ${limit}
    ) AS newest
    ORDER BY generation DESC LIMIT ${limit}`;
}

export async function selectGeneration(generation: GenerationId, sql: Queries): Promise<GenerationRow | undefined> {
  const [row] = await sql<GenerationRow[]>`
    SELECT ${columns(sql)} FROM (SELECT workspace_id, generation_id FROM charges WHERE generation_id = ${generation}) AS charged
    JOIN request_log USING (workspace_id, generation_id)`;
  return row;
}
