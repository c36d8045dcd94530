/** What SPDX documents of all versions share: a description of their products, and a list of relationships. */
import type { ParsedSbom } from "../parsed-sbom.ts";
import { edgesOf, isNothing, type Relationship } from "./relationships.ts";

type Described = Omit<ParsedSbom, "root" | "tops" | "edges" | "holdings"> & {
  relationships: Relationship[];
  /** Refs of the described products. */
  described: string[];
};

/** A single described package is the root; several are all components, one step from a root that the document does not name. */
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

/** A relationship of a file: files are not components. */
function isFileEdge({ from, to }: { from: string; to: string }, others: ReadonlySet<string>): boolean {
  return others.has(from) || others.has(to);
}
