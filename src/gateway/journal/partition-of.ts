import type { WorkspaceId } from "../../kernel/ids.ts";

/**
 * The partition that a workspace's settlements go through. Settlements of a workspace lock its account, so that processes which settle
 * the same workspace wait for each other.
 * @param partitions how many there are at present
 */
export function partitionOf(workspace: WorkspaceId, partitions: number): number {
  if (partitions <= 1) return 0;
  // FNV-1a: http://www.isthe.com/chongo/tech/comp/fnv/
  let hash = 0x811c9dc5;
  for (let place = 0; place < workspace.length; place++) {
    hash = Math.imul(hash ^ workspace.charCodeAt(place), 0x01000193);
  }
  return (hash >>> 0) % partitions;
}
