/** What the reader of each format makes, before references are completed, ways are found and all is put in order. */
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
  /** Refs that the document says it is about where they are several: then none is the root. */
  tops: string[];
  components: ParsedComponent[];
  edges: SbomEdge[];
  /** `from` contains `to`, beside what the parents say. */
  holdings: SbomEdge[];
  /** Refs of what is described and no component: services, files. */
  otherRefs: ReadonlySet<string>;
}
