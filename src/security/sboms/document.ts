/**
 * The content of an SBOM, independent of its format: what a format's reader returns (`ParsedSbom`), and what is stored (`SbomDocument`).
 * Equal content gives an equal document in one canonical order, with an equal digest. The bytes and their encoding do not matter.
 *
 * A package URL is the only key for matching a component with advisories. An invalid one is stored as written, with the reason.
 */
import { ecosystemOfPackageUrlType } from "../versions/ecosystem.ts";
import { PackageUrlError, type PackageUrl, parsePackageUrl } from "../versions/package-url.ts";
import type { JsonValue } from "./json.ts";
import { SbomRefusal } from "./refusal.ts";

type SbomFormat = "CycloneDX" | "SPDX";
export type SbomEncoding = "json" | "xml" | "tag-value" | "json-ld";
/** `unknown`: no path leads from the root to it, or the document names no root. */
export type SbomRelation = "root" | "direct" | "transitive" | "unknown";

export interface SbomComponent {
  /** The document's own id (`bom-ref`, `SPDXID`, `spdxId`), or one derived from the component. Unique in the document. */
  ref: string;
  /** In CycloneDX's words, such as `library`; null if the document does not say. */
  type: string | null;
  group: string | null;
  name: string;
  version: string | null;
  /** CycloneDX 1.7: the version range of an external component, in place of a version. */
  versionRange: string | null;
  purl: SbomPurl;
  /** Ids, names or expressions, sorted. */
  licenses: string[];
  hashes: number;
  scope: string | null;
  /** Needed by the described product, but not part of it (CycloneDX 1.7 `isExternal`). */
  external: boolean;
  /** The component that contains this one. */
  parent: string | null;
  relation: SbomRelation;
  /** Steps from the root on a shortest path; null if there is none. */
  distance: number | null;
  /** The previous component on that path; null for the root, and if there is no path. */
  via: string | null;
}

/** `from` depends on `to`. */
export interface SbomEdge {
  from: string;
  to: string;
}

export interface SbomDocument {
  format: SbomFormat;
  specVersion: string;
  encoding: SbomEncoding;
  /** Serial number, document namespace or the document's own `spdxId`. */
  documentId: string | null;
  name: string | null;
  /** As written in the document. */
  created: string | null;
  tools: string[];
  /** The described product; it is not among the components. */
  root: SbomComponent | null;
  /** Including nested ones, in the order of their refs. */
  components: SbomComponent[];
  edges: SbomEdge[];
  /** Refs in edges that the document does not define, such as elements of other documents. */
  missingRefs: string[];
  /** Steps of paths that are not components, such as services; a whole path cannot be shown without them. */
  otherSteps: { ref: string; via: string | null }[];
  /** SHA-256 of the bytes, in hex. */
  sha256: string;
  /** SHA-256 of everything above except the encoding, in hex: equal for equal content. */
  digest: string;
  /** What was tolerated in it, one line for each kind. */
  warnings: string[];
}

type Ways = Pick<SbomDocument, "root" | "components" | "otherSteps">;

/** @returns one shortest path from the root to a ref, including both; empty if there is none */
export function pathsOf({ root, components, otherSteps }: Ways): (ref: string) => string[] {
  const reached = [...components, ...(root === null ? [] : [root])].filter(({ distance }) => distance !== null);
  const viaByRef = new Map([...reached, ...otherSteps].map(({ ref, via }) => [ref, via]));
  return (ref) => {
    const path: string[] = [];
    let at: string | null = ref;
    while (at !== null && viaByRef.has(at)) {
      path.push(at);
      at = viaByRef.get(at) ?? null;
    }
    return path.toReversed();
  };
}

/** A component as a format's reader returns it, before refs are completed, paths are found and everything is sorted. */
export interface ParsedComponent {
  ref: string | null;
  type: string | null;
  group: string | null;
  name: string;
  version: string | null;
  versionRange: string | null;
  purl: string | null;
  licenses: string[];
  hashes: number;
  scope: string | null;
  external: boolean;
  parent: ParsedComponent | null;
}

export interface ParsedSbom {
  format: SbomFormat;
  specVersion: string;
  encoding: SbomEncoding;
  documentId: string | null;
  name: string | null;
  created: string | null;
  tools: string[];
  root: ParsedComponent | null;
  /** The refs of the described products if there are several; then none is the root. */
  tops: string[];
  components: ParsedComponent[];
  edges: SbomEdge[];
  /** Containment beyond the components' parents: `from` contains `to`. */
  holdings: SbomEdge[];
  /** Refs of described elements that are not components: services, files. */
  otherRefs: ReadonlySet<string>;
}

interface SbomPurl {
  written: string | null;
  parsed: PackageUrl | null;
  /** Why it is invalid; null if it is valid. */
  reason: string | null;
}

/** The first one that names a package of the seven ecosystems, so that it can be compared with advisories; else the first. */
export function choosePurl(written: readonly string[]): string | null {
  const [first = null] = written;
  if (written.length < 2) return first;
  const known = written.filter((purl) => ecosystemOfPackageUrlType(/^pkg:\/*([^/]{1,20})/i.exec(purl)?.[1] ?? "") !== null);
  return known.find((purl) => readPurl(purl).parsed !== null) ?? known[0] ?? first;
}

export function readPurl(written: string | null): SbomPurl {
  if (written === null) return { written, parsed: null, reason: "the document gives no package URL" };
  try {
    return { written, parsed: parsePackageUrl(written), reason: null };
  } catch (error) {
    if (!(error instanceof PackageUrlError)) throw error;
    return { written, parsed: null, reason: error.message };
  }
}

/** @returns 2 to 7. @throws SbomRefusal unsupported_version */
export function cyclonedxMinor(specVersion: JsonValue | undefined): number {
  const minor = typeof specVersion === "string" ? /^1\.([2-7])$/.exec(specVersion)?.[1] : undefined;
  if (minor !== undefined) return Number(minor);
  throw unsupportedVersion("CycloneDX", { written: specVersion, read: "1.2 to 1.7" });
}

/** @returns 2 or 3. @throws SbomRefusal unsupported_version */
export function spdx2Minor(spdxVersion: JsonValue | undefined): number {
  const minor = typeof spdxVersion === "string" ? /^SPDX-2\.([23])$/.exec(spdxVersion)?.[1] : undefined;
  if (minor !== undefined) return Number(minor);
  throw unsupportedVersion("SPDX", { written: spdxVersion, read: "2.2, 2.3 and 3.0" });
}

/** @throws always */
export function unsupportedVersion(
  format: string,
  { written, read }: { written: JsonValue | undefined; read: string },
): SbomRefusal {
  const shown = written === undefined ? "without a version" : `version ${JSON.stringify(written).slice(0, 50)}`;
  return new SbomRefusal(
    "unsupported_version",
    `The document is ${format}, ${shown}; versions ${read} are read, so export it as one of these`,
  );
}
