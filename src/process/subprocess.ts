/**
 * Runs one of Weir's programs in a subprocess: it reads its input from stdin and writes its result as lines to stdout, within a deadline.
 *
 * Its priority is low, so that chats get the cores first. The parent lowers it, and all threads inherit it: a program could lower its own
 * only after starting, which is the most expensive part. A process that ends early shows only as missing lines, which the reader has to
 * detect.
 */
import { spawn, type ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import { availableParallelism, constants, getPriority, setPriority } from "node:os";
import { Readable, type Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Clock } from "../kernel/clock.ts";

/** What the program reads: bytes, or a file from its current position. */
export type SubprocessInput = readonly Uint8Array[] | { fd: number };

export class SubprocessTimeoutError extends Error {
  override name = "SubprocessTimeoutError";
}

/**
 * The process ends when the caller stops reading.
 * @throws SubprocessTimeoutError; Error if the process cannot be started. The caller detects an early end by a missing last line
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
    // A process that ends early also breaks this pipe; its missing lines show that.
    if (child.stdin !== null && !("fd" in input)) pipeline(Readable.from(input), child.stdin).catch(() => {});
    yield* splitLines(child.stdout);
    if (isLate) throw new SubprocessTimeoutError(`The subprocess did not end within ${withinMs} ms`);
  } finally {
    cancel();
    child.kill("SIGKILL");
  }
}

/** One core is left for other work if there is more than one. */
export const subprocessesMax = Math.max(1, availableParallelism() - 1);

/** @param stdin a descriptor to read from, or a pipe */
export function spawnSubprocess(program: string, stdin: "pipe"): ChildProcessByStdio<Writable, Readable, null>;
export function spawnSubprocess(program: string, stdin: number | "pipe"): ChildProcessByStdio<Writable | null, Readable, null>;
export function spawnSubprocess(program: string, stdin: number | "pipe"): ChildProcessByStdio<Writable | null, Readable, null> {
  const child = spawn(process.execPath, [program], { stdio: [stdin, "pipe", "ignore"], env: {} }) as ReturnType<
    typeof spawnSubprocess
  >;
  if (child.pid !== undefined) lowerPriority(child.pid, constants.priority.PRIORITY_LOW);
  return child;
}

const lineEnd = 0x0a;

/** Splits pieces into lines without line ends; a text after the last line end is dropped. */
export async function* splitLines(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let begun: Uint8Array[] = [];
  for await (const piece of pieces) {
    let start = 0;
    for (let end = piece.indexOf(lineEnd); end !== -1; end = piece.indexOf(lineEnd, start)) {
      yield Buffer.concat([...begun, piece.subarray(start, end)]).toString("utf8");
      begun = [];
      start = end + 1;
    }
    if (start < piece.length) begun.push(piece.subarray(start));
  }
}

/** The subprocess's side: reads its whole input. */
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

/**
 * Lowers a process's priority unless it is as low already: raising it again needs a privilege that services lack.
 * @param priority as in `nice`: higher is less
 */
export function lowerPriority(pid: number, priority: number): void {
  if (getPriority(pid) < priority) setPriority(pid, priority);
}
