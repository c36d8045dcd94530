/** Who acts in the control plane. */
import { Type, type Static } from "@sinclair/typebox";

/** What a person may do in one workspace. */
export const Role = Type.Union(
  [Type.Literal("member"), Type.Literal("auditor"), Type.Literal("admin"), Type.Literal("super_admin")],
  { description: "one of member, auditor, admin and super_admin" },
);
export type Role = Static<typeof Role>;

export type Actor = Operator | MemberActor | Service;

/** The holder of the operator token, in nobody's name. */
export interface Operator {
  kind: "operator";
}

/** A person, under the role of one workspace and no more; somebody else's authority let the act through. */
export interface MemberActor {
  kind: "member";
  email: string;
  role: Role;
  carriedBy: "operator token" | "first start" | "tools key";
}

/** Weir itself, on its first start. */
export interface Service {
  kind: "service";
}

/** How an act is signed in the audit log. */
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
