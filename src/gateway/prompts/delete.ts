import type { Actor } from "../../accounts/audit/actor.ts";
import { change, type Change, type Sources } from "../../accounts/audit/change.ts";
import { changedFields } from "../../accounts/audit/changes.ts";
import type { Transaction } from "../../backing/backing.ts";
import type { GenerationId, WorkspaceId } from "../../kernel/ids.ts";
import { promptDeleteBatchBytesMax, promptDeleteBatchMax } from "./limits.ts";
import { authorize, managers } from "../../accounts/workspaces/authorize.ts";
import { DomainError } from "../../accounts/errors.ts";
import type { PromptsDeleted } from "./schema.ts";
import { promptNotFound } from "./show.ts";
import { deletePrompt, deletePromptsBefore, selectPromptWorkspace } from "./store.ts";

const action = "delete stored prompts";

/**
 * Permanently deletes the stored prompt of one generation.
 * @throws DomainError not_found, also for another workspace's prompt; forbidden, except for admins, super admins and the operator
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
 * Deletes the oldest prompts of before a time, as many as one statement deletes at once.
 * @param limit how many at most
 * @param keptDays the setting that lets Weir delete them; absent: somebody asked for it
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
