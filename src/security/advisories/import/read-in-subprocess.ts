/** Large bodies are read in a process of their own, one at a time: a record of 8 MiB would hold the thread for half a second. */
import { fileURLToPath } from "node:url";
import { advisoryReadMs } from "../../limits.ts";
import type { Clock } from "../../../kernel/clock.ts";
import { subprocessLines } from "../../../process/subprocess/subprocess-lines.ts";
import { decodeBody, type ReadBody } from "./subprocess-codec.ts";

const program = fileURLToPath(new URL("./reader-process.ts", import.meta.url));

let last: Promise<unknown> = Promise.resolve();

/** @throws when it takes too long, waiting for others included in the caller's own deadline */
export function readBodyInSubprocess(pieces: readonly Uint8Array[], clock: Clock): Promise<ReadBody> {
  const read = async (): Promise<ReadBody> =>
    decodeBody(subprocessLines({ program, input: pieces, withinMs: advisoryReadMs, clock }));
  const reading = last.then(read, read);
  last = reading;
  reading.catch(() => {});
  return reading;
}
