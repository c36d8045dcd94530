import { cutOut } from "./extract-json-field.ts";
import { readSbom } from "../read-sbom.ts";
import { SbomRefusal } from "../refusal.ts";
import { storableSbom, type StorableSbom } from "../sbom-rows.ts";

/** The fields of a JSON body that lead to the document in it; null: the body is the document. */
export type SbomPath = readonly string[] | null;

export interface SentSbom {
  bytes: Uint8Array;
  path: SbomPath;
}

/** A document, or the sentence that says why it is none. */
export type TakenSbom = { refused: null; sbom: StorableSbom } | { refused: string; sbom: null };

export interface TakenBody {
  /** null: no document was found in the body. */
  taken: TakenSbom | null;
  /** The rest of the body, its other fields; empty where the bytes are the document. */
  rest: Uint8Array;
}

/** Finds the document and reads it. Large ones hold the thread for seconds: those are a matter for SbomReader. */
export function takeSbom({ bytes, path }: SentSbom): TakenBody {
  if (path === null) return { taken: read(bytes), rest: new Uint8Array() };
  const cut = cutOut(bytes, path);
  return cut === null ? { taken: null, rest: bytes } : { taken: read(cut.document), rest: cut.rest };
}

function read(document: Uint8Array): TakenSbom {
  try {
    return { refused: null, sbom: storableSbom(readSbom(document)) };
  } catch (error) {
    if (error instanceof SbomRefusal) return { refused: error.message, sbom: null };
    throw error;
  }
}
