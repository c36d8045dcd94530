import type { Actor } from "../../accounts/audit/actor.ts";
import { change, type Sources } from "../../accounts/audit/change.ts";
import type { Queries } from "../../backing/backing.ts";
import { isoTime } from "../../kernel/clock.ts";
import type { GenerationId, WorkspaceId } from "../../kernel/ids.ts";
import { SealError } from "../../kernel/seal-key.ts";
import { findDataKey } from "../../accounts/secrets/data-key.ts";
import type { Keyring } from "../../accounts/secrets/keyring.ts";
import { authorize, managers } from "../../accounts/workspaces/authorize.ts";
import { DomainError } from "../../accounts/errors.ts";
import type { PromptView } from "./schema.ts";
import { openPrompt, type PlainPrompt, type SealedPrompt } from "./sealed-prompt.ts";
import { selectPrompt, selectPromptWorkspace } from "./store.ts";

/** The workspace of a stored prompt. @throws DomainError not_found */
export async function findPromptWorkspace(generation: GenerationId, sql: Queries): Promise<WorkspaceId> {
  const workspace = await selectPromptWorkspace(generation, sql);
  if (workspace === undefined) throw promptNotFound(generation);
  return workspace;
}

/**
 * A stored prompt with its answer. The access is recorded in the audit log.
 * @throws DomainError not_found, also for another workspace's prompt; forbidden, except for admins, super admins and the operator;
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
    const { at, messages, answer, answerCut } = await opened(sealed, { sql: tx, keyring });
    const view = { generation_id: generation, workspace_id: workspace, at: isoTime(at), messages, answer, answer_cut: answerCut };
    return { result: view, event: { event: "prompt.shown", workspace, target: generation, changes: {} } };
  });
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

export function promptNotFound(generation: GenerationId): DomainError {
  return new DomainError("not_found", `There is no stored prompt of a generation with the id "${generation}"`, { field: "id" });
}
