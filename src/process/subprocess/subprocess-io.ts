/** A subprocess's side: it reads stdin and writes lines to stdout. */
import { once } from "node:events";

export async function readStdin(): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** @param lines with their line ends */
export async function writeLines(lines: Iterable<string>): Promise<void> {
  for (const line of lines) {
    if (!process.stdout.write(line)) await once(process.stdout, "drain");
  }
}
