/** Who calls an operation: the owner of a tools key, in one workspace, looking at one part of it. */
import type { MemberActor, Role } from "../../../accounts/audit/actor.ts";
import type { KeyId, WorkspaceId } from "../../../kernel/ids.ts";

/** What lists show. */
export type Scope = { kind: "workspace" } | { kind: "product" | "project"; id: string };

export interface Caller {
  key: KeyId;
  workspace: WorkspaceId;
  /** E-mail address of the key's owner. */
  owner: string;
  role: Role;
  scope: Scope;
}

/** In whose name a call changes something. */
export function actorOf({ owner, role }: Caller): MemberActor {
  return { kind: "member", email: owner, role, carriedBy: "tools key" };
}
