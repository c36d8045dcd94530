import { extractJsonField } from "./extract-json-field.ts";
import { readSbom } from "../read-sbom.ts";
import { SbomRefusal } from "../refusal.ts";
import { toSbomRows, type SbomRows } from "../sbom-rows.ts";

/** The fields of a JSON body that lead to its document; null if the body is the document. */
export type SbomPath = readonly string[] | null;

export interface SbomBody {
  bytes: Uint8Array;
  path: SbomPath;
}

/** A document, or the sentence that says why it is refused. */
export type SbomResult = { refused: null; rows: SbomRows } | { refused: string; rows: null };

export interface ParsedBody {
  /** null if the body contains no document. */
  sbom: SbomResult | null;
  /** The rest of the body with its other fields; empty if the bytes are the document. */
  rest: Uint8Array;
}

/** Finds the document and reads it. Large ones block the thread for seconds: SbomReader handles these. */
export function parseSbomField({ bytes, path }: SbomBody): ParsedBody {
  if (path === null) return { sbom: read(bytes), rest: new Uint8Array() };
  const field = extractJsonField(bytes, path);
  return field === null ? { sbom: null, rest: bytes } : { sbom: read(field.document), rest: field.rest };
}

function read(document: Uint8Array): SbomResult {
  try {
    return { refused: null, rows: toSbomRows(readSbom(document)) };
  } catch (error) {
    if (error instanceof SbomRefusal) return { refused: error.message, rows: null };
    throw error;
  }
}
