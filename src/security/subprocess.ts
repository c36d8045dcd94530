/**
 * Starts `reader-process.ts`, which reads untrusted uploads. It is a separate process, so an upload that takes too much time or memory does
 * no harm. The first line of its input names the task; the bytes follow. It writes its result as lines, which the task's module decodes.
 * Both ends run the same version of these files.
 */
import { fileURLToPath } from "node:url";
import type { Clock } from "../kernel/clock.ts";
import { readStdin, subprocessLines, type SubprocessInput } from "../process/subprocess.ts";

const tasks = ["sbom", "repository", "advisories"] as const;
export type ReaderTask = (typeof tasks)[number];

const program = fileURLToPath(new URL("./reader-process.ts", import.meta.url));
const lineEnd = 0x0a;

/** The first line of the input. @param facts what the task needs besides the bytes, without line breaks */
export function readerHead(task: ReaderTask, facts: string): Uint8Array {
  return new TextEncoder().encode(`${task} ${facts}\n`);
}

/**
 * The lines of the result.
 * @param options.input `readerHead`, then the bytes
 * @throws SubprocessTimeoutError; Error if the process cannot be started
 */
export function readerLines(options: { input: SubprocessInput; withinMs: number; clock: Clock }): AsyncGenerator<string> {
  return subprocessLines({ program, ...options });
}

/** For the subprocess: all of stdin. */
export async function readReaderInput(): Promise<{ task: ReaderTask; facts: string; bytes: Uint8Array }> {
  const sent = await readStdin();
  const end = sent.indexOf(lineEnd);
  const head = sent.toString("utf8", 0, end);
  const task = tasks.find((one) => head.startsWith(`${one} `));
  if (task === undefined) throw new Error("The first line of the input names no task");
  return { task, facts: head.slice(task.length + 1), bytes: sent.subarray(end + 1) };
}
