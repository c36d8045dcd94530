/** The caller of an operation: the owner of a tools key, in one workspace, with a scope in it. */
import type { MemberActor } from "../../../accounts/audit/actor.ts";
import type { KeyId, WorkspaceId } from "../../../kernel/ids.ts";

/** The part of the workspace that lists show. */
export type Scope = { kind: "workspace" } | { kind: "product" | "project"; id: string };

export interface Caller {
  key: KeyId;
  workspace: WorkspaceId;
  /** The key's owner. */
  actor: MemberActor;
  scope: Scope;
}
