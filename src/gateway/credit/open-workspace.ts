import type { Actor } from "../../accounts/audit/actor.ts";
import type { Sources } from "../../accounts/audit/change.ts";
import type { Transaction } from "../../backing/backing.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { createWorkspace } from "../../accounts/workspaces/create.ts";
import { parseAmount } from "../../accounts/workspaces/fields.ts";
import type { WorkspaceForm } from "../../accounts/workspaces/schema.ts";
import { addCredit } from "./add.ts";

/**
 * Creates a workspace, with its first credit if an amount is given. The transaction holds both.
 * @throws DomainError of either step
 */
export async function openWorkspace(
  { actor, form, ref }: { actor: Actor; form: WorkspaceForm; ref: string },
  sources: Omit<Sources, "sql"> & { sql: Transaction },
): Promise<WorkspaceId> {
  const usd = form.credit_usd;
  if (usd !== undefined) parseAmount({ field: "credit_usd", text: usd, decimalsMax: 9 });
  const { id } = await createWorkspace({ actor, name: form.name }, sources);
  if (usd !== undefined) await addCredit({ actor, workspace: id, credit: { usd, ref } }, sources);
  return id;
}
