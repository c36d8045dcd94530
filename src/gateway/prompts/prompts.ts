/**
 * Stored prompts: show, delete, count. Viewing one is recorded in the audit log like a change, since prompts are the most private data that
 * a workspace has here. A prompt of another workspace is not found. Deletion is permanent, and goes in bounded batches, each with its audit
 * row, so that no other statement waits long; after an interruption the same call deletes the rest.
 */
import { Type, type Static } from "@sinclair/typebox";
import { type Actor, authorize, managers, overseers } from "../../accounts/audit/actor.ts";
import { change, type Sources, type Change, changedFields } from "../../accounts/audit/change.ts";
import { DomainError } from "../../accounts/errors.ts";
import { findDataKey } from "../../accounts/secrets/data-key.ts";
import type { Keyring } from "../../accounts/secrets/keyring.ts";
import type { Queries, Transaction } from "../../backing/backing.ts";
import { isoTime } from "../../kernel/clock.ts";
import type { GenerationId, WorkspaceId } from "../../kernel/ids.ts";
import { SealError } from "../../kernel/seal-key.ts";
import { promptsCountedMax, promptDeleteBatchBytesMax, promptDeleteBatchMax } from "./limits.ts";
import { openPrompt, type PlainPrompt, type SealedPrompt } from "./sealed-prompt.ts";
import { selectPrompt, selectPromptWorkspace, deletePrompt, deletePromptsBefore, countPrompts } from "./store.ts";

const AnyObject = Type.Record(Type.String(), Type.Unknown());

export const PromptView = Type.Object({
  generation_id: Type.String({ description: "The value of the answer's `X-Generation-Id` header" }),
  workspace_id: Type.String({ description: "The workspace of the prompt" }),
  at: Type.String({ description: "When the request was accepted, ISO 8601 in UTC" }),
  messages: Type.Array(AnyObject, { description: "The conversation that was sent to the provider" }),
  parameters: Type.Record(Type.String(), Type.Unknown(), {
    description: "What else the request set, as fields of a chat completion, such as `tools` and `max_tokens`",
  }),
  answer: Type.Union([AnyObject, Type.Null()], { description: "The model's answer, as far as it was received; null: none" }),
  answer_cut: Type.Boolean({ description: "Whether the answer was longer than the stored part" }),
});
export type PromptView = Static<typeof PromptView>;

/** Deletes the prompt of one generation, or a workspace's prompts before a time. */
export const PromptDeletion = Type.Object({
  id: Type.Optional(
    Type.String({ pattern: "^gen-[a-z2-7]{26}$", title: "The prompt of this generation", description: "the id of a generation" }),
  ),
  before: Type.Optional(
    Type.String({
      pattern: "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,9})?Z$",
      title: "The prompts of a workspace's requests before this time",
      description: "a time such as 2026-11-20T00:00:00Z",
    }),
  ),
});

export const PromptsDeleted = Type.Object({ deleted: Type.Integer({ description: "Count of deleted prompts" }) });
export type PromptsDeleted = Static<typeof PromptsDeleted>;

export const PromptCount = Type.Object({
  count: Type.Integer({ description: `How many prompts are stored, counted up to ${promptsCountedMax}` }),
  more: Type.Boolean({ description: "Whether there are more than are counted" }),
  oldest_at: Type.Union([Type.String(), Type.Null()], {
    description: "When the oldest of their requests was accepted, ISO 8601 in UTC; null: none is stored",
  }),
});
export type PromptCount = Static<typeof PromptCount>;

/** The workspace of a stored prompt. @throws DomainError not_found */
export async function findPromptWorkspace(generation: GenerationId, sql: Queries): Promise<WorkspaceId> {
  const workspace = await selectPromptWorkspace(generation, sql);
  if (workspace === undefined) throw promptNotFound(generation);
  return workspace;
}

/**
 * A stored prompt with its answer. The access is recorded in the audit log.
 * @throws DomainError not_found even for another workspace's prompt; forbidden, except for admins, super admins and the operator;
 *   unavailable when SECRETS_KEY lacks the key that it needs
 */
export async function showPrompt(
  { actor, workspace, generation }: { actor: Actor; workspace: WorkspaceId; generation: GenerationId },
  { keyring, ...sources }: Sources & { keyring: Keyring },
): Promise<PromptView> {
  authorize(actor, { roles: managers, action: "read a stored prompt" });
  return change(actor, sources, async (tx) => {
    const sealed = await selectPrompt(generation, tx);
    if (sealed?.workspace !== workspace) throw promptNotFound(generation);
    const { at, messages, parameters, answer, answerCut } = await opened(sealed, { sql: tx, keyring });
    const identity = { generation_id: generation, workspace_id: workspace, at: isoTime(at) };
    const view = { ...identity, messages, parameters, answer, answer_cut: answerCut };
    return { result: view, event: { event: "prompt.shown", workspace, target: generation, changes: {} } };
  });
}

export function promptNotFound(generation: GenerationId): DomainError {
  return new DomainError("not_found", `There is no stored prompt of a generation with the id "${generation}"`, { field: "id" });
}

const action = "delete stored prompts";

/**
 * Permanently deletes the stored prompt of one generation.
 * @throws DomainError not_found even for another workspace's prompt; forbidden, except for admins, super admins and the operator
 */
export async function deleteOnePrompt(
  { actor, workspace, generation }: { actor: Actor; workspace: WorkspaceId; generation: GenerationId },
  sources: Sources,
): Promise<PromptsDeleted> {
  authorize(actor, { roles: managers, action });
  return change(actor, sources, async (tx) => {
    const deleted = (await selectPromptWorkspace(generation, tx)) === workspace && (await deletePrompt(generation, tx));
    if (!deleted) throw promptNotFound(generation);
    return { result: { deleted: 1 }, event: { event: "prompt.deleted", workspace, target: generation, changes: {} } };
  });
}

/**
 * Permanently deletes a workspace's prompts of requests that were admitted before a time. It deletes in bounded batches, each with its
 * audit row, so that no other statement waits long. After an interruption the same call deletes the rest.
 * @throws DomainError invalid_field; forbidden, except for admins, super admins and the operator
 */
export async function deletePromptsOf(
  { actor, workspace, before: typed }: { actor: Actor; workspace: WorkspaceId; before: string },
  sources: Sources,
): Promise<PromptsDeleted> {
  authorize(actor, { roles: managers, action });
  const before = new Date(typed);
  if (Number.isNaN(before.getTime())) {
    throw new DomainError("invalid_field", `Cannot delete prompts before "${typed}": there is no such time`, { field: "before" });
  }
  const total = { deleted: 0 };
  for (;;) {
    const deleted = await change(actor, sources, (tx) => deleteBatch({ workspace, before, limit: promptDeleteBatchMax }, tx));
    if (deleted === 0) return total;
    total.deleted += deleted;
  }
}

/**
 * Deletes the oldest prompts from before a time, as many as one statement deletes at once.
 * @param limit how many at most
 * @param keptDays the setting that lets Weir delete them; absent: a person asked for it
 * @returns how many; 0: there are no more
 */
export async function deleteBatch(
  { workspace, before, limit, keptDays }: { workspace: WorkspaceId; before: Date; limit: number; keptDays?: number },
  tx: Transaction,
): Promise<Change<number>> {
  const deleted = await deletePromptsBefore({ workspace, before, limit, bytesMax: promptDeleteBatchBytesMax }, tx);
  const why = keptDays === undefined ? {} : { prompt_retention_days: keptDays };
  const changes = changedFields({ before: {}, after: { before: before.toISOString(), deleted, ...why } });
  return { result: deleted, event: deleted === 0 ? null : { event: "prompts.deleted", workspace, target: workspace, changes } };
}

/**
 * How many prompts a workspace stores, and since when.
 * @throws DomainError forbidden, except for auditors, admins, super admins and the operator
 */
export async function countStoredPrompts(
  { actor, workspace }: { actor: Actor; workspace: WorkspaceId },
  sql: Queries,
): Promise<PromptCount> {
  authorize(actor, { roles: overseers, action: "count stored prompts" });
  const { count, oldestAt } = await countPrompts({ workspace, max: promptsCountedMax + 1 }, sql);
  return {
    count: Math.min(count, promptsCountedMax),
    more: count > promptsCountedMax,
    oldest_at: oldestAt && isoTime(oldestAt.getTime()),
  };
}

async function opened(sealed: SealedPrompt, sources: { sql: Queries; keyring: Keyring }): Promise<PlainPrompt> {
  try {
    const key = await findDataKey(sealed.workspace, sources);
    if (key) return openPrompt(sealed, key);
    throw new SealError("The data key of its workspace is missing");
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    throw new DomainError("unavailable", `The stored prompt cannot be opened: ${error.message}`);
  }
}
