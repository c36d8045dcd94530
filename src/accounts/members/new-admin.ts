/** Admins sign in with a second factor where the service demands one. A session from before the role may have begun without it. */
import type { Role } from "../audit/actor.ts";
import type { Transaction } from "../../backing/backing.ts";
import { deleteSessions } from "../sessions/session-store.ts";
import { managers } from "../workspaces/authorize.ts";
import { selectActiveRoles } from "./member-store.ts";

/** Ends the sessions of a person who is an admin nowhere and becomes one, within the change's transaction and before the change. */
export async function endSessionsOfNewAdmin({ email, role }: { email: string; role: Role }, tx: Transaction): Promise<void> {
  if (!managers.includes(role)) return;
  const roles = await selectActiveRoles(email, tx);
  if (!roles.some((one) => managers.includes(one))) await deleteSessions(email, tx);
}
