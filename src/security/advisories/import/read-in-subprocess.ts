/** Reads large bodies in a subprocess, one at a time: a record of 8 MiB would block the event loop for half a second. */
import { fileURLToPath } from "node:url";
import { advisoryReadMs } from "../../limits.ts";
import type { Clock } from "../../../kernel/clock.ts";
import { subprocessLines } from "../../../process/subprocess/subprocess-lines.ts";
import { decodeBody, type ReadBody } from "./subprocess-codec.ts";

const program = fileURLToPath(new URL("./reader-process.ts", import.meta.url));

let last: Promise<unknown> = Promise.resolve();

/** @throws when reading takes too long. The wait for other bodies counts toward the caller's deadline only. */
export function readBodyInSubprocess(pieces: readonly Uint8Array[], clock: Clock): Promise<ReadBody> {
  const read = async (): Promise<ReadBody> =>
    decodeBody(subprocessLines({ program, input: pieces, withinMs: advisoryReadMs, clock }));
  const reading = last.then(read, read);
  last = reading;
  reading.catch(() => {});
  return reading;
}
