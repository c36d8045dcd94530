/** A program of ours in a process of its own, for work that can wait for a core: chats go before it. */
import { spawn, type ChildProcessByStdio } from "node:child_process";
import { availableParallelism, constants, setPriority } from "node:os";
import type { Readable, Writable } from "node:stream";

/** So many such processes at once leave a core to everything else, where there is more than one. */
export const subprocessesMax = Math.max(1, availableParallelism() - 1);

/**
 * Its priority is low from the start, and its threads inherit that: a program that lowered its own had by then done the dearest
 * part, which is to start.
 * @param stdin a descriptor to read from, or a pipe
 */
export function spawnSubprocess(program: string, stdin: "pipe"): ChildProcessByStdio<Writable, Readable, null>;
export function spawnSubprocess(program: string, stdin: number | "pipe"): ChildProcessByStdio<Writable | null, Readable, null>;
export function spawnSubprocess(program: string, stdin: number | "pipe"): ChildProcessByStdio<Writable | null, Readable, null> {
  const child = spawn(process.execPath, [program], { stdio: [stdin, "pipe", "ignore"], env: {} }) as ReturnType<
    typeof spawnSubprocess
  >;
  if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW);
  return child;
}
