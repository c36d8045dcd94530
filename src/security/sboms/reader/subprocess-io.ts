/** The subprocess's side: reads stdin and writes the result. */
import { writeLines, readStdin } from "../../../process/subprocess/subprocess-io.ts";
import { encodeBody } from "./subprocess-codec.ts";
import type { ParsedBody } from "./parse-sbom-field.ts";

const lineEnd = 0x0a;

/** All of stdin: its first line, and the bytes after it. */
export async function readSubprocessInput(): Promise<{ head: string; bytes: Uint8Array }> {
  const sent = await readStdin();
  const end = sent.indexOf(lineEnd);
  return { head: sent.toString("utf8", 0, end), bytes: sent.subarray(end + 1) };
}

export async function writeSubprocessOutput(body: ParsedBody): Promise<void> {
  await writeLines(encodeBody(body));
}
