/** One call for each node: it serves all workspaces that the node has. */
import { CountersUnavailableError } from "../../counters.ts";
import { countersDeadlineMs } from "../../limits.ts";
import type { Clock } from "../../../kernel/clock.ts";
import type { WorkspaceId } from "../../../kernel/ids.ts";
import type { RedisNode } from "./redis-node.ts";
import type { RedisNodes } from "./redis-nodes.ts";

/** Calls one node for these workspaces. @returns those that it does not have: nothing was done for them */
export type CallNode = (node: RedisNode, workspaces: WorkspaceId[]) => Promise<WorkspaceId[]>;

export interface CallParts {
  nodes: RedisNodes;
  clock: Clock;
}

/**
 * Looks again for workspaces that move to another node meanwhile, until the counters' deadline.
 * @returns for each workspace that was not reached, why; whether its call ran is unknown
 */
export async function callNodes(
  workspaces: Iterable<WorkspaceId>,
  call: CallNode,
  { nodes, clock }: CallParts,
): Promise<ReadonlyMap<WorkspaceId, unknown>> {
  const failures = new Map<WorkspaceId, unknown>();
  const endsAt = clock.monotonic() + countersDeadlineMs;
  await nodes.catchUp();
  for (let waiting = [...workspaces]; ;) {
    const calls = [...byNode(waiting, { nodes, failures })].map(async ([node, some]) => {
      try {
        return await call(node, some);
      } catch (error) {
        if (isElsewhere(error)) return some;
        for (const workspace of some) failures.set(workspace, error);
        return [];
      }
    });
    waiting = (await Promise.all(calls)).flat();
    if (waiting.length === 0) return failures;
    if (clock.monotonic() >= endsAt) {
      const error = new CountersUnavailableError("The slot of a workspace is on its way to another node");
      for (const workspace of waiting) failures.set(workspace, error);
      return failures;
    }
    await nodes.refresh();
  }
}

/** Calls the node of one workspace. @throws CountersUnavailableError: whether the call ran is then unknown */
export async function callNodeOf<Reply>(
  workspace: WorkspaceId,
  call: (node: RedisNode) => Promise<Reply>,
  { nodes, clock }: CallParts,
): Promise<Reply> {
  const endsAt = clock.monotonic() + countersDeadlineMs;
  await nodes.catchUp();
  for (;;) {
    try {
      return await call(nodes.nodeOf(workspace));
    } catch (error) {
      if (!isElsewhere(error) || clock.monotonic() >= endsAt) throw error;
    }
    await nodes.refresh();
  }
}

function byNode(
  workspaces: Iterable<WorkspaceId>,
  { nodes, failures }: { nodes: RedisNodes; failures: Map<WorkspaceId, unknown> },
): Map<RedisNode, WorkspaceId[]> {
  const found = new Map<RedisNode, WorkspaceId[]>();
  for (const workspace of workspaces) {
    try {
      const node = nodes.nodeOf(workspace);
      const others = found.get(node);
      if (others) others.push(workspace);
      else found.set(node, [workspace]);
    } catch (error) {
      failures.set(workspace, error);
    }
  }
  return found;
}

/** The node refused before it did anything: it is no longer the one to ask, or not yet. */
function isElsewhere(error: unknown): boolean {
  const cause = error instanceof CountersUnavailableError ? error.cause : null;
  return cause instanceof Error && /^(MOVED|ASK|TRYAGAIN|CLUSTERDOWN|READONLY) /.test(cause.message);
}
