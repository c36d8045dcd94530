/**
 * The actor of a change, and what its role lets it do. An actor is the operator, a member of a workspace, or Weir itself. Every credential
 * resolves to one, and the audit log names it. Verbs name the roles that may call them; the operator may do everything. The reference
 * documents this table of roles.
 */
import { Type, type Static } from "@sinclair/typebox";
import { DomainError } from "../errors.ts";

/** What a person may do in one workspace. */
export const Role = Type.Union(
  [Type.Literal("member"), Type.Literal("auditor"), Type.Literal("admin"), Type.Literal("super_admin")],
  { description: "one of member, auditor, admin and super_admin" },
);
export type Role = Static<typeof Role>;

export type Actor = Operator | MemberActor | Service;

/** The holder of the operator token, without `X-Act-As`. */
export interface Operator {
  kind: "operator";
}

/** A person with the role that they have in one workspace. */
export interface MemberActor {
  kind: "member";
  email: string;
  role: Role;
  /** The credential. */
  carriedBy: "operator token" | "first start" | "tools key" | "session" | "sign-in link";
}

/** Weir itself: on its first start, and where a setting lets it act later. */
export interface Service {
  kind: "service";
}

/** The actor as the audit log stores it. */
export interface Signature {
  actor: string;
  role: string;
  carriedBy: string | null;
}

export function signatureOf(actor: Actor): Signature {
  switch (actor.kind) {
    case "operator":
      return { actor: "operator", role: "operator", carriedBy: null };
    case "member":
      return { actor: actor.email, role: actor.role, carriedBy: actor.carriedBy };
    case "service":
      return { actor: "weir", role: "service", carriedBy: null };
  }
}

// What each role may do.

/** Change what neither costs nor exposes anything to others: everyone but auditors, who are read-only. */
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
  const needed = roles.length === 0 ? "only the operator may" : `it requires the role ${roles.join(" or ")}`;
  throw new DomainError("forbidden", `Cannot ${action} as ${actor.role}: ${needed}`);
}

/** The only owner whose keys and requests the actor sees; null: the actor sees those of all owners. */
export function ownerSeenBy(actor: Actor): string | null {
  return actor.kind === "member" && !overseers.includes(actor.role) ? actor.email : null;
}
