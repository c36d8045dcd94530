/** What the viewer may do to a member, by the rule that the endpoints use. */
import type { Actor, Role } from "../../../accounts/audit/actor.ts";
import { DomainError } from "../../../accounts/errors.ts";
import { requireRightOver } from "../../../accounts/members/members.ts";
import { managers } from "../../../accounts/workspaces/authorize.ts";
import type { PageCall } from "../../page.ts";
import { roleName } from "../../role-name.ts";

/** @param email empty: they would be invited @param action completes "Cannot …" @returns null: they may; otherwise why not, as a sentence */
export function reasonAgainst(
  call: PageCall,
  { email, roles, action }: { email: string; roles: readonly Role[]; action: string },
): string | null {
  try {
    requireRightOver({ actor: actorOf(call), email, roles, action });
    return null;
  } catch (error) {
    if (error instanceof DomainError) return reasonOf(call, email);
    throw error;
  }
}

function reasonOf({ viewer, workspace: { role } }: PageCall, email: string): string {
  if (role !== "operator" && !managers.includes(role))
    return `Only admins ${email === "" ? "invite" : "change"} members. Your role is ${roleName(role).toLowerCase()}.`;
  return viewer.email === email ? "Nobody changes their own membership." : "Only a super admin changes a super admin.";
}

function actorOf({ viewer, workspace: { role } }: PageCall): Actor {
  if (role === "operator" || viewer.email === null) return { kind: "operator" };
  return { kind: "member", email: viewer.email, role, carriedBy: "session" };
}
