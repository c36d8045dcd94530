/**
 * Reads one document that comes on stdin, behind a line that says where in the bytes it is, and writes what it took to stdout.
 * A process, so that one that takes too long or too much memory ends without harm; SbomReader starts it.
 */
import { answerApart, sentApart } from "./apart.ts";
import { takeSbom, type SbomPath } from "./take-sbom.ts";

const { head, bytes } = await sentApart();
await answerApart(takeSbom({ bytes, path: pathOf(head) }));

/** SbomReader writes it. */
function pathOf(line: string): SbomPath {
  return JSON.parse(line) as SbomPath;
}
