import type { Queries } from "../../backing/backing.ts";
import type { Clock } from "../../kernel/clock.ts";
import { DomainError } from "../errors.ts";
import { selectWorkspaces, type WorkspaceRow } from "./store.ts";

/**
 * Finds a workspace by id or exact name, with its spend of this month.
 * @throws DomainError not_found
 */
export async function findWorkspace(idOrName: string, { sql, clock }: { sql: Queries; clock: Clock }): Promise<WorkspaceRow> {
  const [row] = await selectWorkspaces({ workspace: idOrName, now: clock.now() }, sql);
  if (!row) {
    throw new DomainError("not_found", `There is no workspace with the id or name "${idOrName}"`, { field: "workspace" });
  }
  return row;
}
