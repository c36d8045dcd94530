/** The result of each format's reader, before refs are completed, paths are found and everything is sorted. */
import type { SbomEdge, SbomEncoding, SbomFormat } from "./document.ts";

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
  /** The refs of several described products: then none is the root. */
  tops: string[];
  components: ParsedComponent[];
  edges: SbomEdge[];
  /** `from` contains `to`, in addition to the parents. */
  holdings: SbomEdge[];
  /** Refs of described elements that are not components: services, files. */
  otherRefs: ReadonlySet<string>;
}
