import type { MemberActor } from "../audit/actor.ts";
import type { Queries } from "../../backing/backing.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { DomainError } from "../errors.ts";
import { canonicalEmail } from "./fields.ts";
import { selectMembers } from "../members/member-store.ts";

/**
 * The member in whose name the operator token acts.
 * @param field where the address came from, for the message
 * @throws DomainError forbidden: unknown here, deactivated, or the account is not active
 */
export async function actAs(
  { workspace, email, field }: { workspace: WorkspaceId; email: string; field: string },
  sql: Queries,
): Promise<MemberActor> {
  const [row] = await selectMembers({ workspace, email: canonicalEmail(email) }, sql);
  if (!row?.active || row.account !== "active") {
    throw new DomainError("forbidden", `Cannot act as "${email}": no active member of this workspace has the address`, { field });
  }
  return { kind: "member", email: row.email, role: row.role, carriedBy: "operator token" };
}
