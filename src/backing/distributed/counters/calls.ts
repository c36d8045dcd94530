/** One script call takes any number of workspaces; on a Redis Cluster, those of one slot. */
import type { WorkspaceId } from "../../../kernel/ids.ts";
import { clusterSlot } from "./cluster-slot.ts";

/** Under the tag {w} lies everything of a workspace. */
export function baseName(workspace: WorkspaceId): string {
  return `{${workspace}}`;
}

/** @param clustered whether the workspaces of a call must share a slot. @returns the workspaces of each call; no empty call */
export function callsFor(workspaces: Iterable<WorkspaceId>, clustered: boolean): WorkspaceId[][] {
  return [...Map.groupBy(workspaces, (workspace) => (clustered ? clusterSlot(workspace) : 0)).values()];
}
