import type { SbomRows } from "./sbom-rows.ts";

/** The number of characters in a document's rows: what it takes to store, independent of the document's size. */
export function rowCharacters({ componentRows, edgeRows }: SbomRows): number {
  let characters = 0;
  for (const columns of [...componentRows, ...edgeRows]) for (const text of Object.values(columns)) characters += text.length;
  return characters;
}
