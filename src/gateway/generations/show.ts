import type { Actor } from "../../accounts/audit/actor.ts";
import type { Queries } from "../../backing/backing.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { GenerationId, WorkspaceId } from "../../kernel/ids.ts";
import { findKey } from "../../accounts/keys/show.ts";
import { ownerSeenBy } from "../../accounts/workspaces/authorize.ts";
import { DomainError } from "../../accounts/errors.ts";
import { selectGeneration, type GenerationRow } from "./store.ts";

/** @throws DomainError not_found: no such generation, or it has not ended */
export async function findGeneration(id: GenerationId, sql: Queries): Promise<GenerationRow> {
  const row = await selectGeneration(id, sql);
  if (!row) throw generationNotFound(id);
  return row;
}

/**
 * Requires a generation that the actor may see in their current workspace.
 * @throws DomainError not_found, also for a generation of another member or workspace
 */
export async function requireVisibleGeneration(
  { actor, workspace, row }: { actor: Actor; workspace: WorkspaceId; row: GenerationRow },
  sources: { sql: Queries; clock: Clock },
): Promise<void> {
  if (row.workspace !== workspace) throw generationNotFound(row.generation);
  const owner = ownerSeenBy(actor);
  if (owner !== null && (await findKey(row.key, sources)).owner !== owner) throw generationNotFound(row.generation);
}

export function generationNotFound(id: GenerationId): DomainError {
  return new DomainError("not_found", `There is no ended generation with the id "${id}"`, { field: "id" });
}
