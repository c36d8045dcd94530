import { arrayText } from "../../backing/array-text.ts";
import type { Queries, Transaction } from "../../backing/backing.ts";
import { byteaText } from "../../backing/bytea-text.ts";
import { isoTime } from "../../kernel/clock.ts";
import type { GenerationId, WorkspaceId } from "../../kernel/ids.ts";
import type { SealedPrompt } from "./sealed-prompt.ts";

/**
 * Stores prompts of workspaces whose prompt storage is on at this moment, not at the time of the request: nothing is written once it is
 * off. A prompt that exists already is not replaced.
 */
export async function insertPrompts(prompts: SealedPrompt[], sql: Queries): Promise<void> {
  const column = (read: (prompt: SealedPrompt) => string | null): string => arrayText(prompts, read);
  await sql`
    INSERT INTO stored_prompts (generation_id, workspace_id, at, messages, answer, answer_cut)
    SELECT new.generation, new.workspace, new.at, new.messages, new.answer, new.cut
    FROM unnest(${column(({ generation }) => generation)}::text[], ${column(({ workspace }) => workspace)}::text[],
      ${column(({ at }) => isoTime(at))}::timestamptz[], ${column(({ messages }) => byteaText(messages))}::text[]::bytea[],
      ${column(({ answer }) => answer && byteaText(answer))}::text[]::bytea[], ${column(({ answerCut }) => String(answerCut))}::text[]::boolean[]
    ) AS new (generation, workspace, at, messages, answer, cut)
    JOIN workspaces ON workspaces.id = new.workspace AND workspaces.prompt_storage
    FOR SHARE OF workspaces
    ON CONFLICT (generation_id) DO NOTHING`;
}

export async function selectPrompt(generation: GenerationId, sql: Queries): Promise<SealedPrompt | undefined> {
  const [row] = await sql<(Omit<SealedPrompt, "at"> & { at: Date })[]>`
    SELECT generation_id AS generation, workspace_id AS workspace, at, messages, answer, answer_cut AS "answerCut"
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

/** Deletes at most `limit` of the oldest. @returns how many */
export async function deletePromptsBefore(
  { workspace, before, limit }: { workspace: WorkspaceId; before: Date; limit: number },
  tx: Transaction,
): Promise<number> {
  const { count } = await tx`
    DELETE FROM stored_prompts WHERE generation_id IN (
      SELECT generation_id FROM stored_prompts WHERE workspace_id = ${workspace} AND at < ${before} ORDER BY at LIMIT ${limit})`;
  return count;
}
