/** What is kept of an SBOM, whatever it was written in: equal content gives an equal document, in one canonical order. */
import type { SbomPurl } from "./purl.ts";

export type SbomFormat = "CycloneDX" | "SPDX";
export type SbomEncoding = "json" | "xml" | "tag-value" | "json-ld";
/** `unknown`: no way leads from the root to it, or the document names no root. */
export type SbomRelation = "root" | "direct" | "transitive" | "unknown";

export interface SbomComponent {
  /** The document's own name for it (`bom-ref`, `SPDXID`, `spdxId`), else one made of what it is. Unique in the document. */
  ref: string;
  /** In the words of CycloneDX, such as `library`; null where the document does not say. */
  type: string | null;
  group: string | null;
  name: string;
  version: string | null;
  /** CycloneDX 1.7: the versions that an external component may have, in place of one. */
  versionRange: string | null;
  purl: SbomPurl;
  /** Ids, names or expressions, sorted. */
  licenses: string[];
  hashes: number;
  scope: string | null;
  /** Not part of what is described, only needed by it (CycloneDX 1.7 `isExternal`). */
  external: boolean;
  /** The component that holds this one. */
  parent: string | null;
  relation: SbomRelation;
  /** Steps from the root on a shortest way; null where none leads to it. */
  distance: number | null;
  /** The step before this component on that way; null for the root, and where none leads to it. */
  via: string | null;
}

/** `from` needs `to`. */
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
  /** As the document says it. */
  created: string | null;
  tools: string[];
  /** What the document is about; it is not among the components. */
  root: SbomComponent | null;
  /** Nested ones included, in the order of their refs. */
  components: SbomComponent[];
  edges: SbomEdge[];
  /** Refs that edges name and nothing in the document describes, such as elements of other documents. */
  missingRefs: string[];
  /** What ways go through and is no component, such as a service: needed to tell a whole path. */
  otherSteps: { ref: string; via: string | null }[];
  /** SHA-256 of the bytes, in hex. */
  sha256: string;
  /** SHA-256 of all of the above but the encoding, in hex: equal for equal content. */
  digest: string;
}

type Ways = Pick<SbomDocument, "root" | "components" | "otherSteps">;

/** @returns for a ref one shortest way from the root to it, both ends included; empty where none leads to it */
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
