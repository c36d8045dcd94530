/** The side of a program of ours that works apart in a process of its own: what it gets on stdin, and how it answers in lines. */
import { once } from "node:events";

/** All of stdin. */
export async function readStdin(): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** @param lines each with its line end */
export async function writeLines(lines: Iterable<string>): Promise<void> {
  for (const line of lines) {
    if (!process.stdout.write(line)) await once(process.stdout, "drain");
  }
}
