/** Starts a program of this service in a subprocess of low priority, so that chats get the cores first. */
import { spawn, type ChildProcessByStdio } from "node:child_process";
import { availableParallelism, constants } from "node:os";
import type { Readable, Writable } from "node:stream";
import { lowerPriority } from "../lower-priority.ts";

/** Leaves one core to other work if there is more than one. */
export const subprocessesMax = Math.max(1, availableParallelism() - 1);

/**
 * The parent lowers the priority, and all threads inherit it: a program that lowered its own would first have started, which is the
 * most expensive part.
 * @param stdin a descriptor to read from, or a pipe
 */
export function spawnSubprocess(program: string, stdin: "pipe"): ChildProcessByStdio<Writable, Readable, null>;
export function spawnSubprocess(program: string, stdin: number | "pipe"): ChildProcessByStdio<Writable | null, Readable, null>;
export function spawnSubprocess(program: string, stdin: number | "pipe"): ChildProcessByStdio<Writable | null, Readable, null> {
  const child = spawn(process.execPath, [program], { stdio: [stdin, "pipe", "ignore"], env: {} }) as ReturnType<
    typeof spawnSubprocess
  >;
  if (child.pid !== undefined) lowerPriority(child.pid, constants.priority.PRIORITY_LOW);
  return child;
}
