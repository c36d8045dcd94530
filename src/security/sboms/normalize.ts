/**
 * Turns a parsed SBOM into the document: every component with a ref and a path, in canonical order, with a digest.
 *
 * A path is a shortest chain of dependencies from the root. A component that no dependency reaches is reached through its container. Within
 * a container, components that others need come later, because the lists of an image or a folder mix direct and transitive components.
 * Cycles end, since each component is visited once; the time is linear in the number of edges.
 */
import { createHash } from "node:crypto";
import { byCodeUnits, shortened } from "../../kernel/text.ts";
import { sbomComponentsMax, sbomEdgesMax } from "../limits.ts";
import { printPackageUrl } from "../versions/package-url.ts";
import {
  type SbomComponent,
  type SbomDocument,
  type SbomEdge,
  type ParsedSbom,
  type ParsedComponent,
  readPurl,
  type SbomRelation,
} from "./document.ts";
import { SbomRefusal, type SbomWarnings } from "./refusal.ts";

interface Written {
  bytes: Uint8Array;
  /** What was tolerated so far. */
  warnings: SbomWarnings;
}

/** @throws SbomRefusal too_large */
export function normalizeSbom(parsed: ParsedSbom, { bytes, warnings }: Written): SbomDocument {
  requireAtMost("components", parsed.components.length, sbomComponentsMax);
  requireAtMost("relationships", parsed.edges.length + parsed.holdings.length, sbomEdgesMax);
  const all = parsed.root === null ? parsed.components : [parsed.root, ...parsed.components];
  const refs = referencesOf(all);
  const edges = sortedUnique(parsed.edges);
  const root = parsed.root === null ? null : (refs.get(parsed.root) ?? null);
  const holdings = sortedUnique([...parsed.holdings, ...parentHoldings(all, refs)]);
  const paths = findDependencyPaths({ root, tops: parsed.tops.toSorted(), edges, holdings });
  const normalized = (component: ParsedComponent) => normalizeComponent({ component, refs, paths });
  const described = new Set(refs.values());
  const content = {
    format: parsed.format,
    specVersion: parsed.specVersion,
    documentId: parsed.documentId,
    name: parsed.name,
    created: parsed.created,
    tools: unique(parsed.tools),
    root: parsed.root === null ? null : normalized(parsed.root),
    components: parsed.components.map(normalized).toSorted((one, other) => byCodeUnits(one.ref, other.ref)),
    edges,
    missingRefs: missingRefs([...edges, ...parsed.holdings], new Set([...described, ...parsed.otherRefs])),
    otherSteps: otherSteps(paths, described),
  };
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  for (const component of content.components) warnAboutPurl(component, warnings);
  return { ...content, encoding: parsed.encoding, sha256, digest: documentDigest(content), warnings: warnings.lines() };
}

function warnAboutPurl({ ref, purl: { written, reason } }: SbomComponent, warnings: SbomWarnings): void {
  if (written === null || reason === null) return;
  const says = `has a package URL that cannot be read, so no advisory is compared with it: ${reason}`;
  warnings.add({ place: () => `component ${JSON.stringify(shortened(ref, 100))}`, says, kind: "purl" });
}

function requireAtMost(what: string, count: number, max: number): void {
  if (count > max) throw new SbomRefusal("too_large", `The document has ${count} ${what}; at most ${max} are read`);
}

/** A component without a ref gets one derived from its content, whatever its position. */
function referencesOf(components: readonly ParsedComponent[]): Map<ParsedComponent, string> {
  const used = new Set(components.flatMap(({ ref }) => ref ?? []));
  const counts = new Map<string, number>();
  const entries = components.map((component): [ParsedComponent, string] => {
    if (component.ref !== null) return [component, component.ref];
    const named = `${component.group === null ? "" : `${component.group}/`}${component.name}`;
    const base = component.purl ?? (component.version === null ? named : `${named}@${component.version}`);
    let count = counts.get(base) ?? 0;
    let ref = base;
    do ref = count++ === 0 ? base : `${base}#${count}`;
    while (used.has(ref));
    counts.set(base, count);
    used.add(ref);
    return [component, ref];
  });
  return new Map(entries);
}

function sortedUnique(edges: readonly SbomEdge[]): SbomEdge[] {
  const sorted = edges.toSorted((one, other) => byCodeUnits(one.from, other.from) || byCodeUnits(one.to, other.to));
  return sorted.filter(({ from, to }, index) => from !== sorted[index - 1]?.from || to !== sorted[index - 1]?.to);
}

function parentHoldings(components: readonly ParsedComponent[], refs: ReadonlyMap<ParsedComponent, string>): SbomEdge[] {
  return components.flatMap((component) => {
    const from = component.parent === null ? undefined : refs.get(component.parent);
    const to = refs.get(component);
    return from === undefined || to === undefined ? [] : [{ from, to }];
  });
}

interface Graph {
  root: string | null;
  /** Refs one step from a root that is not a component itself. */
  tops: readonly string[];
  edges: readonly SbomEdge[];
  holdings: readonly SbomEdge[];
}

interface DependencyPath {
  relation: SbomRelation;
  distance: number | null;
  via: string | null;
}

/** @returns a path for each reachable ref */
function findDependencyPaths({ root, tops, edges, holdings }: Graph): Map<string, DependencyPath> {
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

function targetsBySource(edges: readonly SbomEdge[]): Map<string, string[]> {
  const targets = new Map<string, string[]>();
  for (const { from, to } of edges) {
    const known = targets.get(from);
    if (known === undefined) targets.set(from, [to]);
    else known.push(to);
  }
  return targets;
}

function after(via: string, paths: ReadonlyMap<string, DependencyPath>): DependencyPath {
  const distance = (paths.get(via)?.distance ?? 0) + 1;
  return { relation: distance === 1 ? "direct" : "transitive", distance, via };
}

interface ComponentContext {
  component: ParsedComponent;
  refs: ReadonlyMap<ParsedComponent, string>;
  paths: ReadonlyMap<string, DependencyPath>;
}

function normalizeComponent({ component, refs, paths }: ComponentContext): SbomComponent {
  const ref = refs.get(component) ?? "";
  const path: DependencyPath = paths.get(ref) ?? { relation: "unknown", distance: null, via: null };
  const { type, group, name, version, versionRange, hashes, scope, external } = component;
  const parent = component.parent === null ? null : (refs.get(component.parent) ?? null);
  const purl = readPurl(component.purl);
  const licenses = unique(component.licenses);
  return { ref, type, group, name, version, versionRange, purl, licenses, hashes, scope, external, parent, ...path };
}

function unique(texts: Iterable<string>): string[] {
  return [...new Set(texts)].toSorted(byCodeUnits);
}

function missingRefs(edges: readonly SbomEdge[], known: ReadonlySet<string>): string[] {
  return unique(edges.flatMap(({ from, to }) => [from, to].filter((ref) => !known.has(ref))));
}

function otherSteps(paths: ReadonlyMap<string, DependencyPath>, described: ReadonlySet<string>): SbomDocument["otherSteps"] {
  const steps = [...paths].filter(([ref]) => !described.has(ref)).map(([ref, { via }]) => ({ ref, via }));
  return steps.toSorted((one, other) => byCodeUnits(one.ref, other.ref));
}

function documentDigest({
  root,
  components,
  edges,
  ...rest
}: Omit<SbomDocument, "encoding" | "sha256" | "digest" | "warnings">): string {
  const hash = createHash("sha256").update(JSON.stringify(rest));
  for (const component of root === null ? components : [root, ...components]) {
    const { written, parsed } = component.purl;
    const purl = parsed === null ? written : printPackageUrl(parsed);
    hash.update(`\n${JSON.stringify({ ...component, purl })}`);
  }
  for (const { from, to } of edges) hash.update(`\n${JSON.stringify([from, to])}`);
  return hash.digest("hex");
}
