/**
 * All SQL of stored prompts and kept answers. A prompt is written only if its workspace stores prompts at that moment, not at the time of the request:
 * nothing is written once storage is off.
 */
import { arrayText, byteaText } from "../../backing/sql-text.ts";
import type { Queries, Transaction } from "../../backing/backing.ts";
import { isoTime } from "../../kernel/clock.ts";
import type { GenerationId, WorkspaceId } from "../../kernel/ids.ts";
import type { SealedPrompt } from "./sealed-prompt.ts";

/** Writes nothing for workspaces that store no prompts. A prompt that exists already is not replaced. */
export async function insertPrompts(prompts: SealedPrompt[], sql: Queries): Promise<void> {
  const column = (read: (prompt: SealedPrompt) => string | null): string => arrayText(prompts, read);
  await sql`
    INSERT INTO stored_prompts (generation_id, workspace_id, at, messages, parameters, answer, answer_cut)
    SELECT new.generation, new.workspace, new.at, new.messages, new.parameters, new.answer, new.cut
    FROM unnest(${column(({ generation }) => generation)}::text[], ${column(({ workspace }) => workspace)}::text[],
      ${column(({ at }) => isoTime(at))}::timestamptz[], ${column(({ messages }) => byteaText(messages))}::text[]::bytea[],
      ${column(({ parameters }) => parameters && byteaText(parameters))}::text[]::bytea[],
      ${column(({ answer }) => answer && byteaText(answer))}::text[]::bytea[], ${column(({ answerCut }) => String(answerCut))}::text[]::boolean[]
    ) AS new (generation, workspace, at, messages, parameters, answer, cut)
    JOIN workspaces ON workspaces.id = new.workspace AND workspaces.prompt_storage
    FOR SHARE OF workspaces
    ON CONFLICT (generation_id) DO NOTHING`;
}

export async function selectPrompt(generation: GenerationId, sql: Queries): Promise<SealedPrompt | undefined> {
  const [row] = await sql<(Omit<SealedPrompt, "at"> & { at: Date })[]>`
    SELECT generation_id AS generation, workspace_id AS workspace, at, messages, parameters, answer, answer_cut AS "answerCut"
    FROM stored_prompts WHERE generation_id = ${generation}`;
  return row && { ...row, at: row.at.getTime() };
}

export async function selectPromptWorkspace(generation: GenerationId, sql: Queries): Promise<WorkspaceId | undefined> {
  const [row] = await sql<{ workspace: WorkspaceId }[]>`
    SELECT workspace_id AS workspace FROM stored_prompts WHERE generation_id = ${generation}`;
  return row?.workspace;
}

/** @returns whether it existed */
export async function deletePrompt(generation: GenerationId, tx: Transaction): Promise<boolean> {
  const { count } = await tx`DELETE FROM stored_prompts WHERE generation_id = ${generation}`;
  return count > 0;
}

/**
 * Deletes at most `limit` of the oldest, and at most `bytesMax` of sealed texts if there are several. If two delete at once, the second
 * waits and takes the rows after the first's.
 * @returns how many; 0: there are no more
 */
export async function deletePromptsBefore(
  { workspace, before, limit, bytesMax }: { workspace: WorkspaceId; before: Date; limit: number; bytesMax: number },
  tx: Transaction,
): Promise<number> {
  const { count } = await tx`
    DELETE FROM stored_prompts WHERE generation_id IN (
      SELECT generation_id FROM (
        SELECT generation_id, sum(bytes) OVER (ORDER BY at, generation_id) - bytes AS bytes_ahead
        FROM (
          SELECT generation_id, at, octet_length(messages) + coalesce(octet_length(parameters), 0) + coalesce(octet_length(answer), 0) AS bytes
          FROM stored_prompts WHERE workspace_id = ${workspace} AND at < ${before}
          ORDER BY at LIMIT ${limit} FOR UPDATE
        ) AS oldest
      ) AS summed WHERE bytes_ahead < ${bytesMax})`;
  return count;
}

/** @param max how many are counted at most @returns the oldest by its time of admission; null: there is none */
export async function countPrompts(
  { workspace, max }: { workspace: WorkspaceId; max: number },
  sql: Queries,
): Promise<{ count: number; oldestAt: Date | null }> {
  const [row] = await sql<{ count: number; oldestAt: Date | null }[]>`
    SELECT count(*)::integer AS count, min(at) AS "oldestAt"
    FROM (SELECT at FROM stored_prompts WHERE workspace_id = ${workspace} ORDER BY at LIMIT ${max}) AS oldest`;
  return row ?? { count: 0, oldestAt: null };
}

/**
 * Workspaces that store prompts from before `endMs` minus the days that they keep them, in order of ids.
 * @param after the id of a workspace
 */
export async function selectDueRetentions(
  { endMs, after, limit }: { endMs: number; after: WorkspaceId; limit: number },
  sql: Queries,
): Promise<WorkspaceId[]> {
  const rows = await sql<{ id: WorkspaceId }[]>`
    SELECT id FROM workspaces
    WHERE prompt_retention_days IS NOT NULL AND id > ${after} AND EXISTS (
      SELECT FROM stored_prompts WHERE workspace_id = workspaces.id
        AND at < ${new Date(endMs)}::timestamptz - make_interval(hours => 24 * prompt_retention_days))
    ORDER BY id LIMIT ${limit}`;
  return rows.map(({ id }) => id);
}

/**
 * Holds the setting until the transaction ends, so that nothing is deleted under a setting that has changed.
 * @returns days; null: none is set
 */
export async function holdRetention(workspace: WorkspaceId, tx: Transaction): Promise<number | null> {
  const [row] = await tx<{ days: number | null }[]>`
    SELECT prompt_retention_days AS days FROM workspaces WHERE id = ${workspace} FOR SHARE`;
  return row?.days ?? null;
}

// Answers to requests with an idempotency key

export interface SealedAnswer {
  generation: GenerationId;
  workspace: WorkspaceId;
  /** The time of admission in milliseconds. */
  at: number;
  answer: Uint8Array;
}

/** Writes nothing for workspaces that keep none at that moment. */
export async function insertKeptAnswers(answers: SealedAnswer[], sql: Queries): Promise<void> {
  const column = (read: (answer: SealedAnswer) => string): string => arrayText(answers, read);
  await sql`
    INSERT INTO kept_answers (generation_id, workspace_id, at, answer)
    SELECT new.generation, new.workspace, new.at, new.answer
    FROM unnest(${column(({ generation }) => generation)}::text[], ${column(({ workspace }) => workspace)}::text[],
      ${column(({ at }) => isoTime(at))}::timestamptz[], ${column(({ answer }) => byteaText(answer))}::text[]::bytea[]
    ) AS new (generation, workspace, at, answer)
    JOIN workspaces ON workspaces.id = new.workspace AND workspaces.idempotent_replay AND NOT workspaces.zero_data_retention
    FOR SHARE OF workspaces
    ON CONFLICT (generation_id) DO NOTHING`;
}

export async function selectKeptAnswer(
  { workspace, generation }: { workspace: WorkspaceId; generation: GenerationId },
  sql: Queries,
): Promise<Uint8Array | undefined> {
  const [row] = await sql<{ answer: Uint8Array }[]>`
    SELECT answer FROM kept_answers WHERE generation_id = ${generation} AND workspace_id = ${workspace}`;
  return row?.answer;
}

/** Deletes those from before a time, and all of workspaces that keep none any more. @returns how many */
export async function deleteKeptAnswers({ before, limit }: { before: Date; limit: number }, sql: Queries): Promise<number> {
  const { count } = await sql`
    DELETE FROM kept_answers WHERE generation_id IN (
      SELECT generation_id FROM kept_answers JOIN workspaces ON workspaces.id = workspace_id
      WHERE at < ${before} OR NOT idempotent_replay OR zero_data_retention LIMIT ${limit})`;
  return count;
}
