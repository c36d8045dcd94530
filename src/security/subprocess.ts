/**
 * Starts the program `reader-process.ts`, which reads what strangers sent: a process, so that what needs too much time or memory does no
 * harm. The first line of its input names the task; the bytes follow. It writes its result as lines, which the module of the task decodes.
 * Both ends run these files in the same version.
 */
import { fileURLToPath } from "node:url";
import type { Clock } from "../kernel/clock.ts";
import { readStdin, subprocessLines, type SubprocessInput } from "../process/subprocess.ts";

const tasks = ["sbom", "repository", "advisories"] as const;
export type ReaderTask = (typeof tasks)[number];

const program = fileURLToPath(new URL("./reader-process.ts", import.meta.url));
const lineEnd = 0x0a;

/** The first line of the input. @param facts what the task needs besides the bytes: a text without line ends */
export function readerHead(task: ReaderTask, facts: string): Uint8Array {
  return new TextEncoder().encode(`${task} ${facts}\n`);
}

/**
 * The lines of the result.
 * @param options.input `readerHead`, then the bytes
 * @throws SubprocessTimeoutError; Error where the process cannot be started
 */
export function readerLines(options: { input: SubprocessInput; withinMs: number; clock: Clock }): AsyncGenerator<string> {
  return subprocessLines({ program, ...options });
}

/** The program's side: all of stdin. */
export async function readReaderInput(): Promise<{ task: ReaderTask; facts: string; bytes: Uint8Array }> {
  const sent = await readStdin();
  const end = sent.indexOf(lineEnd);
  const head = sent.toString("utf8", 0, end);
  const task = tasks.find((one) => head.startsWith(`${one} `));
  if (task === undefined) throw new Error("The first line of the input names no task");
  return { task, facts: head.slice(task.length + 1), bytes: sent.subarray(end + 1) };
}
