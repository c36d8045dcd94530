/** The side of a process that reads apart: what it gets on stdin, and how it answers. */
import { once } from "node:events";
import { constants, setPriority } from "node:os";
import { linesOf } from "./taken-lines.ts";
import type { TakenBody } from "./take-sbom.ts";

const lineEnd = 0x0a;

/** All of stdin: its first line, and what stands behind it. What is read apart can wait for a core: chats go before it. */
export async function sentApart(): Promise<{ head: string; bytes: Uint8Array }> {
  setPriority(constants.priority.PRIORITY_LOW);
  const chunks: Uint8Array[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk);
  const sent = Buffer.concat(chunks);
  const end = sent.indexOf(lineEnd);
  return { head: sent.toString("utf8", 0, end), bytes: sent.subarray(end + 1) };
}

export async function answerApart(taken: TakenBody): Promise<void> {
  for (const line of linesOf(taken)) {
    if (!process.stdout.write(line)) await once(process.stdout, "drain");
  }
}
