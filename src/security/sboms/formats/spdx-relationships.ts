/**
 * What SPDX documents of all versions share: relationships as dependency and containment edges, and the described root. A single described
 * package is the root. Several are components one step from a root that the document does not name. Files are not components, so their
 * relationships are dropped.
 */
import type { SbomEdge, ParsedSbom } from "../document.ts";

/** `forward`: the first element depends on (or contains) the second; `backward`: the reverse. */
const needs: Record<string, "forward" | "backward"> = {
  DEPENDS_ON: "forward",
  HAS_PREREQUISITE: "forward",
  DYNAMIC_LINK: "forward",
  STATIC_LINK: "forward",
  DEPENDENCY_OF: "backward",
  PREREQUISITE_FOR: "backward",
  BUILD_DEPENDENCY_OF: "backward",
  DEV_DEPENDENCY_OF: "backward",
  OPTIONAL_DEPENDENCY_OF: "backward",
  PROVIDED_DEPENDENCY_OF: "backward",
  RUNTIME_DEPENDENCY_OF: "backward",
  TEST_DEPENDENCY_OF: "backward",
  dependsOn: "forward",
  hasPrerequisite: "forward",
  hasDynamicLink: "forward",
  hasStaticLink: "forward",
  hasOptionalDependency: "forward",
  hasProvidedDependency: "forward",
};

const holds: Record<string, "forward" | "backward"> = {
  CONTAINS: "forward",
  CONTAINED_BY: "backward",
  PACKAGE_OF: "backward",
  OPTIONAL_COMPONENT_OF: "backward",
  contains: "forward",
};

/** All types of 2.3; the number is the minor version that introduced each type. */
export const relationshipTypes: ReadonlyMap<string, number> = new Map([
  ...[...Object.keys(needs), ...Object.keys(holds)]
    .filter((type) => type === type.toUpperCase())
    .map((type) => [type, 2] as const),
  ...["DESCRIBES", "DESCRIBED_BY", "VARIANT_OF", "COPY_OF", "PATCH_FOR", "PATCH_APPLIED", "DATA_FILE_OF"].map(
    (type) => [type, 2] as const,
  ),
  ...["ANCESTOR_OF", "DESCENDANT_OF", "GENERATES", "GENERATED_FROM", "METAFILE_OF", "OTHER"].map((type) => [type, 2] as const),
  ...["DEPENDENCY_MANIFEST_OF", "TEST_OF", "TEST_TOOL_OF", "TEST_CASE_OF", "BUILD_TOOL_OF"].map((type) => [type, 2] as const),
  ...["DEV_TOOL_OF", "FILE_ADDED", "FILE_DELETED", "FILE_MODIFIED", "EXAMPLE_OF"].map((type) => [type, 2] as const),
  ...["DISTRIBUTION_ARTIFACT", "DOCUMENTATION_OF", "EXPANDED_FROM_ARCHIVE"].map((type) => [type, 2] as const),
  ...["AMENDS", "SPECIFICATION_FOR", "REQUIREMENT_DESCRIPTION_FOR"].map((type) => [type, 3] as const),
]);

/** About a package with several package URLs: `choosePurl` chooses. */
export const severalPurlsSay = "has several package URLs; the first of an ecosystem that advisories are about is read";

export interface Relationship {
  from: string;
  type: string;
  to: string;
}

/** SPDX's values for "unknown" and "none". */
export function isNothing(text: string | null): boolean {
  return text === null || text === "NOASSERTION" || text === "NONE";
}

type Described = Omit<ParsedSbom, "root" | "tops" | "edges" | "holdings"> & {
  relationships: Relationship[];
  /** Refs of the described products. */
  described: string[];
};

/** Completes a document of any version. */
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

function edgesOf(relationships: readonly Relationship[]): { edges: SbomEdge[]; holdings: SbomEdge[] } {
  const named = relationships.filter(({ from, to }) => !isNothing(from) && !isNothing(to));
  return { edges: named.flatMap((one) => directed(one, needs)), holdings: named.flatMap((one) => directed(one, holds)) };
}

function directed({ from, type, to }: Relationship, directions: Record<string, "forward" | "backward">): SbomEdge[] {
  const direction = Object.hasOwn(directions, type) ? directions[type] : undefined;
  if (direction === undefined) return [];
  return [direction === "forward" ? { from, to } : { from: to, to: from }];
}

/** Whether a file is involved: files are not components. */
function isFileEdge({ from, to }: { from: string; to: string }, others: ReadonlySet<string>): boolean {
  return others.has(from) || others.has(to);
}
