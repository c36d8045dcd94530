import type { Queries } from "../../backing/backing.ts";
import type { Principal } from "../members/principal.ts";
import { selectNamedMemberships } from "../members/member-store.ts";
import { canonicalEmail } from "../workspaces/fields.ts";
import { selectWorkspaceNames } from "../workspaces/store.ts";
import type { IdentityView } from "./schema.ts";

/** Who a request's credential is, which workspaces they may see, and which have invited them. */
export async function identityOf(principal: Principal, sql: Queries): Promise<IdentityView> {
  if (principal.kind === "operator") {
    const rows = await selectWorkspaceNames(workspacesMax, sql);
    return { email: null, workspaces: rows.map((row) => ({ ...row, role: "operator" as const })), invitations: [] };
  }
  const email = canonicalEmail(principal.email);
  const memberships = await selectNamedMemberships({ email, limit: workspacesMax }, sql);
  const of = (active: boolean) => memberships.filter((one) => one.active === active);
  return {
    email,
    workspaces: of(true).map(({ id, name, role }) => ({ id, name, role })),
    invitations: of(false).map(({ id, name, role, askedBy }) => ({ id, name, role, invited_by: askedBy })),
  };
}

/** More would make a menu useless. */
const workspacesMax = 500;
