/** One call serves any number of workspaces; on a Redis Cluster, those of one slot. */
import type { WorkspaceId } from "../../kernel/ids.ts";
import { clusterSlot } from "./cluster-slot.ts";

/** The tag {w}, which every key of a workspace begins with. */
export function baseName(workspace: WorkspaceId): string {
  return `{${workspace}}`;
}

/** At least one. */
export type Workspaces = [WorkspaceId, ...WorkspaceId[]];

/** @param clustered whether the workspaces of a call must share a slot. @returns the workspaces of each call */
export function callsFor(workspaces: Iterable<WorkspaceId>, clustered: boolean): Workspaces[] {
  const calls = new Map<number, Workspaces>();
  for (const workspace of workspaces) {
    const slot = clustered ? clusterSlot(workspace) : 0;
    const call = calls.get(slot);
    if (call) call.push(workspace);
    else calls.set(slot, [workspace]);
  }
  return [...calls.values()];
}
