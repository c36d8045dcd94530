/**
 * Finds one shortest dependency path from the root to each component. A component that no dependency reaches came with its
 * container; among the components of a container, those that another one needs come later, because lists of an image or a
 * folder contain direct and transitive ones alike. Cycles end, since each component is visited once; the time is linear in
 * edges.
 */
import type { SbomEdge, SbomRelation } from "./document.ts";

export interface DependencyPath {
  relation: SbomRelation;
  distance: number | null;
  via: string | null;
}

interface Graph {
  root: string | null;
  /** One step from a root that has no component of its own. */
  tops: readonly string[];
  edges: readonly SbomEdge[];
  holdings: readonly SbomEdge[];
}

/** @returns a path for each reachable ref */
export function findDependencyPaths({ root, tops, edges, holdings }: Graph): Map<string, DependencyPath> {
  const needs = targetsBySource(edges);
  const holds = targetsBySource(holdings);
  const needed = new Set(edges.filter(({ from, to }) => from !== to).map(({ to }) => to));
  const paths = new Map<string, DependencyPath>();
  const next = { needs: [] as string[], held: [] as SbomEdge[], heldAndNeeded: [] as SbomEdge[] };
  const reach = (ref: string, path: DependencyPath): void => {
    if (paths.has(ref)) return;
    paths.set(ref, path);
    next.needs.push(ref);
  };
  if (root !== null) reach(root, { relation: "root", distance: 0, via: null });
  for (const top of tops) reach(top, { relation: "direct", distance: 1, via: null });
  for (let at = 0; ;) {
    const from = next.needs[at];
    if (from !== undefined) {
      at++;
      for (const to of needs.get(from) ?? []) reach(to, after(from, paths));
      for (const to of holds.get(from) ?? []) (needed.has(to) ? next.heldAndNeeded : next.held).push({ from, to });
      continue;
    }
    const holding = next.held.pop() ?? next.heldAndNeeded.pop();
    if (holding === undefined) return paths;
    reach(holding.to, after(holding.from, paths));
  }
}

function after(via: string, paths: ReadonlyMap<string, DependencyPath>): DependencyPath {
  const distance = (paths.get(via)?.distance ?? 0) + 1;
  return { relation: distance === 1 ? "direct" : "transitive", distance, via };
}

function targetsBySource(edges: readonly SbomEdge[]): Map<string, string[]> {
  const targets = new Map<string, string[]>();
  for (const { from, to } of edges) {
    const known = targets.get(from);
    if (known === undefined) targets.set(from, [to]);
    else known.push(to);
  }
  return targets;
}
