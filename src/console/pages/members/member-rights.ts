/** What the viewer may do to a member, by the rule that the endpoints use. */
import type { Actor, Role } from "../../../accounts/audit/actor.ts";
import { DomainError } from "../../../accounts/errors.ts";
import { requireRightOver } from "../../../accounts/members/member-rights.ts";
import { sentence } from "../../page-forms.ts";
import type { PageCall } from "../../page.ts";

/** @param action completes "Cannot …" @returns null: they may; otherwise why not, as a sentence */
export function reasonAgainst(
  call: PageCall,
  { email, roles, action }: { email: string; roles: readonly Role[]; action: string },
): string | null {
  try {
    requireRightOver({ actor: actorOf(call), email, roles, action });
    return null;
  } catch (error) {
    if (error instanceof DomainError) return sentence(error.message);
    throw error;
  }
}

function actorOf({ viewer, workspace: { role } }: PageCall): Actor {
  if (role === "operator" || viewer.email === null) return { kind: "operator" };
  return { kind: "member", email: viewer.email, role, carriedBy: "session" };
}
