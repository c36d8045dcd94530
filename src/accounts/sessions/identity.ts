import type { Queries } from "../../backing/backing.ts";
import type { Principal } from "../members/principal.ts";
import { selectActiveMemberships } from "../members/member-store.ts";
import { canonicalEmail } from "../workspaces/fields.ts";
import { selectWorkspaceNames } from "../workspaces/store.ts";
import type { IdentityView } from "./schema.ts";

/** Who a request's credential is, and which workspaces they may see. */
export async function identityOf(principal: Principal, sql: Queries): Promise<IdentityView> {
  if (principal.kind === "operator") {
    const rows = await selectWorkspaceNames(workspacesMax, sql);
    return { email: null, workspaces: rows.map((row) => ({ ...row, role: "operator" as const })) };
  }
  const email = canonicalEmail(principal.email);
  return { email, workspaces: await selectActiveMemberships({ email, limit: workspacesMax }, sql) };
}

/** More would make a menu useless. */
const workspacesMax = 500;
