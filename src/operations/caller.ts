/** Who calls an operation: the owner of a tools key, in one workspace, looking at one part of it. */
import type { Role } from "../audit/actor.ts";
import type { KeyId, WorkspaceId } from "../kernel/ids.ts";

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
