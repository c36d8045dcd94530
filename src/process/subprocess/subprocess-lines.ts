/** Runs a program of ours that reads its input from stdin and writes its result as lines to stdout, in a process with a deadline. */
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Clock } from "../../kernel/clock.ts";
import { splitLines } from "./split-lines.ts";
import { spawnSubprocess } from "./spawn-subprocess.ts";

/** What the program reads: bytes, or a file from its present position. */
export type SubprocessInput = readonly Uint8Array[] | { fd: number };

export class SubprocessTimeoutError extends Error {
  override name = "SubprocessTimeoutError";
}

/**
 * The process ends when the caller stops reading.
 * @throws SubprocessTimeoutError; Error where the process cannot be started. The caller detects an early end by its last line
 */
export async function* subprocessLines({
  program,
  input,
  withinMs,
  clock,
}: {
  program: string;
  input: SubprocessInput;
  withinMs: number;
  clock: Clock;
}): AsyncGenerator<string> {
  const child = spawnSubprocess(program, "fd" in input ? input.fd : "pipe");
  const failed = new Promise<never>((_, reject) => child.on("error", reject));
  failed.catch(() => {});
  let isLate = false;
  const cancel = clock.after(withinMs, () => {
    isLate = true;
    child.kill("SIGKILL");
  });
  try {
    if (child.pid === undefined) await failed;
    // A process that ends early breaks this pipe too, and its missing lines show that.
    if (child.stdin !== null && !("fd" in input)) pipeline(Readable.from(input), child.stdin).catch(() => {});
    yield* splitLines(child.stdout);
    if (isLate) throw new SubprocessTimeoutError(`The subprocess did not end within ${withinMs} ms`);
  } finally {
    cancel();
    child.kill("SIGKILL");
  }
}
