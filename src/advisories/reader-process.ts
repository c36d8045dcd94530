/** Reads a body with a batch of advisories that comes on stdin, and writes what is to be stored to stdout; `readBodyApart` starts it. */
import { once } from "node:events";
import { constants, setPriority } from "node:os";
import { linesOfBody } from "./prepared-lines.ts";
import { readBody } from "./read-body.ts";

setPriority(constants.priority.PRIORITY_LOW);
const chunks: Uint8Array[] = [];
for await (const chunk of process.stdin) chunks.push(chunk);
for (const line of linesOfBody(readBody(Buffer.concat(chunks)))) {
  if (!process.stdout.write(line)) await once(process.stdout, "drain");
}
