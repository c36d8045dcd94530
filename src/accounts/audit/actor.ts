/**
 * The actor of a change: the operator, a member of a workspace by one of their credentials, or Weir itself. Every credential leads to
 * one, and the audit log signs with it. What an actor may do is in `workspaces/authorize.ts`.
 */
import { Type, type Static } from "@sinclair/typebox";

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
