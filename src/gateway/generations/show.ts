import type { Actor } from "../../accounts/audit/actor.ts";
import type { Queries } from "../../backing/backing.ts";
import type { GenerationId, WorkspaceId } from "../../kernel/ids.ts";
import type { Caller } from "../../accounts/keys/store.ts";
import { ownerSeenBy } from "../../accounts/workspaces/authorize.ts";
import { DomainError } from "../../accounts/errors.ts";
import { findCallers } from "./callers.ts";
import { selectGeneration, type GenerationRow } from "./store.ts";

/** @throws DomainError not_found: no such generation, or it has not ended */
export async function findGeneration(id: GenerationId, sql: Queries): Promise<GenerationRow> {
  const row = await selectGeneration(id, sql);
  if (!row) throw generationNotFound(id);
  return row;
}

/**
 * Requires a generation that the actor may see in their current workspace.
 * @returns its caller; undefined: unknown
 * @throws DomainError not_found, also for a generation of another member or workspace
 */
export async function requireVisibleGeneration(
  { actor, workspace, row }: { actor: Actor; workspace: WorkspaceId; row: GenerationRow },
  { sql }: { sql: Queries },
): Promise<Caller | undefined> {
  if (row.workspace !== workspace) throw generationNotFound(row.generation);
  const seen = ownerSeenBy(actor);
  const caller = (await findCallers([row], sql)).get(row.key);
  if (seen !== null && caller?.email !== seen) throw generationNotFound(row.generation);
  return caller;
}

export function generationNotFound(id: GenerationId): DomainError {
  return new DomainError("not_found", `There is no ended generation with the id "${id}"`, { field: "id" });
}
