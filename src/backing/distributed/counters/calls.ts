/** One script call takes any number of workspaces; on a Redis Cluster, those of one slot. */
import type { WorkspaceId } from "../../../kernel/ids.ts";
import { clusterSlot } from "./cluster-slot.ts";

/** Under the tag {w} lies everything of a workspace. */
export function baseName(workspace: WorkspaceId): string {
  return `{${workspace}}`;
}

/** @param clustered whether the workspaces of a call must share a slot */
export function callsFor(workspaces: Iterable<WorkspaceId>, clustered: boolean): WorkspaceId[][] {
  if (!clustered) return [[...workspaces]];
  return [...Map.groupBy(workspaces, clusterSlot).values()];
}
