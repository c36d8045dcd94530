/** A program of ours that takes its input on stdin and answers in lines on stdout, in a process that ends in time. */
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Clock } from "../kernel/clock.ts";
import { splitLines } from "./split-lines.ts";
import { spawnSubprocess } from "./spawn-subprocess.ts";

/** @throws when it cannot be started; lines that are missing because it was ended are the reader's to notice */
export async function* subprocessLines({
  program,
  input,
  withinMs,
  clock,
}: {
  program: string;
  input: readonly Uint8Array[];
  withinMs: number;
  clock: Clock;
}): AsyncGenerator<string> {
  const child = spawnSubprocess(program, "pipe");
  const failed = new Promise<never>((_, reject) => child.on("error", reject));
  failed.catch(() => {});
  const cancel = clock.after(withinMs, () => void child.kill("SIGKILL"));
  try {
    // One that ends early breaks this pipe too: the other end says so.
    pipeline(Readable.from(input), child.stdin).catch(() => {});
    yield* splitLines(child.stdout);
    if (child.pid === undefined) await failed;
  } finally {
    cancel();
    child.kill("SIGKILL");
  }
}
