import type { Queries } from "../../backing/backing.ts";
import { monthOf, type Clock } from "../../kernel/clock.ts";
import { ControlError } from "../errors.ts";
import { selectWorkspaces, type WorkspaceRow } from "./store.ts";

/**
 * A workspace by its id or exact name, with what it spent this month.
 * @throws ControlError not_found
 */
export async function findWorkspace(idOrName: string, { sql, clock }: { sql: Queries; clock: Clock }): Promise<WorkspaceRow> {
  const [row] = await selectWorkspaces({ workspace: idOrName, month: monthOf(clock.now()) }, sql);
  if (!row) {
    throw new ControlError("not_found", {
      field: "workspace",
      message: `There is no workspace with the id or name "${idOrName}"`,
    });
  }
  return row;
}
