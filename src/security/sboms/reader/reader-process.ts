/**
 * Reads one document that comes on stdin, behind a line that says where in the bytes it is, and writes what it took to stdout.
 * A process, so that one that takes too long or too much memory ends without harm; SbomReader starts it.
 */
import { toolsBodyBytesMax } from "../../limits.ts";
import { writeSubprocessOutput, readSubprocessInput } from "./subprocess-io.ts";
import { parseSbomField, type SbomPath } from "./parse-sbom-field.ts";

const { head, bytes } = await readSubprocessInput();
const { sbom, rest } = parseSbomField({ bytes, path: pathOf(head) });
// What is more than a call may have beside its document is refused there: its first bytes are enough to see that.
await writeSubprocessOutput({ sbom, rest: rest.subarray(0, toolsBodyBytesMax + 1) });

/** SbomReader writes it. */
function pathOf(line: string): SbomPath {
  return JSON.parse(line) as SbomPath;
}
