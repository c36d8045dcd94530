/** Who looks at a page: a session with the workspaces that it may see. */
import type { Role } from "../accounts/audit/actor.ts";
import { identityOf, findSession } from "../accounts/sessions/session.ts";
import { sessionToken } from "../accounts/sessions/browser.ts";
import type { Session } from "../accounts/sessions/store.ts";
import type { Principal } from "../accounts/members/principal.ts";
import { principalOf } from "../control-api/session-authenticator.ts";
import type { ControlParts } from "../control-api/parts.ts";

export type ViewerRole = Role | "operator";

export interface Viewer {
  session: Session;
  /** The cookie's value. */
  token: string;
  principal: Principal;
  /** null: the operator. */
  email: string | null;
  workspaces: { id: string; name: string; role: ViewerRole }[];
  /** How many workspaces wait for their answer. */
  invitations: number;
}

/** null: nobody is signed in. */
export async function findViewer(request: Request, { sql, clock }: ControlParts): Promise<Viewer | null> {
  const token = sessionToken(request);
  const session = token === null ? null : await findSession(token, { sql, clock });
  if (token === null || session === null) return null;
  const principal = principalOf(session);
  const { email, workspaces, invitations } = await identityOf(principal, sql);
  return { session, token, principal, email, workspaces, invitations: invitations.length };
}

export function isOperator({ principal }: Viewer): boolean {
  return principal.kind === "operator";
}
