/** What SPDX documents of all versions share: they say what they describe, and one relationship after another. */
import type { ParsedSbom } from "../parsed-sbom.ts";
import { edgesOf, isNothing, type Relationship } from "./relationships.ts";

type Described = Omit<ParsedSbom, "root" | "tops" | "edges" | "holdings"> & {
  relationships: Relationship[];
  /** Refs of what the document says it is about. */
  described: string[];
};

/** One package described is the root; several are all components, at one step from a root that the document does not name. */
export function resolveRelationships({ relationships, described, components, ...rest }: Described): ParsedSbom {
  const packages = new Set(components.map(({ ref }) => ref));
  const tops = [...new Set(described)].filter((ref) => !isNothing(ref) && packages.has(ref));
  const [only] = tops.length === 1 ? tops : [];
  const root = components.find(({ ref }) => ref === only) ?? null;
  const { edges, holdings } = edgesOf(relationships);
  return {
    ...rest,
    root,
    tops: root === null ? tops : [],
    components: components.filter((component) => component !== root),
    edges: edges.filter(({ from, to }) => !isFileEdge({ from, to }, rest.otherRefs)),
    holdings,
  };
}

/** Between a file and anything else: files are no components. */
function isFileEdge({ from, to }: { from: string; to: string }, others: ReadonlySet<string>): boolean {
  return others.has(from) || others.has(to);
}
