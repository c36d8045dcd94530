/** What a member may do to another member. The operator may do everything. */
import type { Actor, Role } from "../audit/actor.ts";
import type { Transaction } from "../../backing/backing.ts";
import { DomainError } from "../errors.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { authorize, managers } from "../workspaces/authorize.ts";
import { lockSuperAdmins } from "./member-store.ts";

interface Intended {
  actor: Actor;
  /** The member that is to change. */
  email: string;
  /** The member's role before and afterwards. */
  roles: readonly Role[];
  /** Completes "Cannot …". */
  action: string;
}

/**
 * Admins manage members; only super admins touch a super admin, or make one; nobody changes their own membership.
 * @throws DomainError forbidden
 */
export function requireRightOver({ actor, email, roles, action }: Intended): void {
  authorize(actor, { roles: managers, action });
  if (actor.kind !== "member") return;
  const refuse = (cause: string) =>
    new DomainError("forbidden", `Cannot ${action} as ${actor.role}: ${cause}`, { field: "email" });
  if (actor.email === email) throw refuse("nobody changes their own membership");
  if (roles.includes("super_admin") && actor.role !== "super_admin")
    throw refuse("it takes the role super_admin where a super admin is concerned");
}

/**
 * Keeps a workspace from losing its last active super admin through one of its members. Locks them all until the transaction ends, so
 * that two who demote each other do not both succeed.
 * @throws DomainError conflict
 */
export async function requireAnotherSuperAdmin(
  { actor, workspace, email }: { actor: Actor; workspace: WorkspaceId; email: string },
  tx: Transaction,
): Promise<void> {
  if (actor.kind !== "member") return;
  const superAdmins = await lockSuperAdmins(workspace, tx);
  if (superAdmins.some((one) => one !== email)) return;
  throw new DomainError("conflict", `"${email}" is the last super admin of this workspace: make another one first`, {
    field: "email",
  });
}
