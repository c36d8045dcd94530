import type { Queries } from "../../backing/backing.ts";
import type { Principal } from "../members/principal.ts";
import { canonicalEmail } from "../workspaces/fields.ts";
import type { IdentityView } from "./schema.ts";

/** Who a request's credential is, and which workspaces they may see. */
export async function identityOf(principal: Principal, sql: Queries): Promise<IdentityView> {
  if (principal.kind === "operator") {
    const rows = await sql<{ id: string; name: string }[]>`SELECT id, name FROM workspaces ORDER BY name LIMIT ${workspacesMax}`;
    return { email: null, workspaces: rows.map((row) => ({ ...row, role: "operator" as const })) };
  }
  const email = canonicalEmail(principal.email);
  const workspaces = await sql<IdentityView["workspaces"]>`
    SELECT w.id, w.name, m.role FROM members m JOIN workspaces w ON w.id = m.workspace_id
    WHERE m.email = ${email} AND m.active ORDER BY w.name LIMIT ${workspacesMax}`;
  return { email, workspaces: [...workspaces] };
}

/** More would make a menu useless. */
const workspacesMax = 500;
