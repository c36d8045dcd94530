import type { WorkspaceId } from "../../kernel/ids.ts";

/** The tag {w}, which every key of a workspace begins with: a Redis Cluster keeps them in one slot. */
export function baseName(workspace: WorkspaceId): string {
  return `{${workspace}}`;
}
