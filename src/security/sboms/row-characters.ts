import type { SbomRows } from "./sbom-rows.ts";

/** How many characters the rows of a document have: what it takes to keep, whatever the document itself was like. */
export function rowCharacters({ componentRows, edgeRows }: SbomRows): number {
  let characters = 0;
  for (const columns of [...componentRows, ...edgeRows]) for (const text of Object.values(columns)) characters += text.length;
  return characters;
}
