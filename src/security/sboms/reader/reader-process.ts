/**
 * Reads one document from stdin, after a line with its location in the bytes, and writes the result to stdout. It is a process,
 * so that a document that needs too much time or memory does no harm. SbomReader starts it.
 */
import { toolsBodyBytesMax } from "../../limits.ts";
import { writeSubprocessOutput, readSubprocessInput } from "./subprocess-io.ts";
import { parseSbomField, type SbomPath } from "./parse-sbom-field.ts";

const { head, bytes } = await readSubprocessInput();
const { sbom, rest } = parseSbomField({ bytes, path: pathOf(head) });
// A body with more than a call may have besides its document is refused there, and its first bytes suffice to detect that.
await writeSubprocessOutput({ sbom, rest: rest.subarray(0, toolsBodyBytesMax + 1) });

/** Written by SbomReader. */
function pathOf(line: string): SbomPath {
  return JSON.parse(line) as SbomPath;
}
