/**
 * What each role may do: verbs name the roles, the operator may do everything. This is the role table as code; the reference repeats it
 * for people.
 */
import type { Actor, Role } from "../audit/actor.ts";
import { DomainError } from "../errors.ts";

/** Change what costs or exposes nothing to others: everyone but auditors, who are read-only. */
export const writers: readonly Role[] = ["member", "admin", "super_admin"];
/** Manage settings, stored prompts and the keys of others. */
export const managers: readonly Role[] = ["admin", "super_admin"];
/** See what other members did. */
export const overseers: readonly Role[] = ["auditor", "admin", "super_admin"];
export const operatorOnly: readonly Role[] = [];

/**
 * @param action completes "Cannot …"
 * @throws DomainError forbidden
 */
export function authorize(actor: Actor, { roles, action }: { roles: readonly Role[]; action: string }): void {
  if (actor.kind !== "member" || roles.includes(actor.role)) return;
  const needed = roles.length === 0 ? "it is left to the operator" : `it takes the role ${roles.join(" or ")}`;
  throw new DomainError("forbidden", `Cannot ${action} as ${actor.role}: ${needed}`);
}

/** The only owner whose keys and requests the actor sees; null: the actor sees those of all owners. */
export function ownerSeenBy(actor: Actor): string | null {
  return actor.kind === "member" && !overseers.includes(actor.role) ? actor.email : null;
}
