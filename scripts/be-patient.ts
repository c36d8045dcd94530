/**
 * Limits a process, and all that it starts, to the CPU time that processes of normal priority leave.
 */
import { spawnSync, type ChildProcess } from "node:child_process";
import { setPriority } from "node:os";

/** On Linux a seventieth of a normal process's share while both want the CPU, so that background work only fills the gaps. */
const niceness = 19;

let canDrop: boolean | null = null;

/** The prefix of a command that keeps it patient: Chromium raises its own priority above its parent's if it may. */
export function stayPatient(): string[] {
  const words = ["setpriv", "--bounding-set=-sys_nice", "--"];
  canDrop ??= spawnSync("setpriv", [...words.slice(1), "true"]).status === 0;
  return canDrop ? words : [];
}

/** Processes that it has already started keep their priority. */
export function bePatient({ pid }: Pick<ChildProcess, "pid">): void {
  if (pid === undefined) return;
  try {
    setPriority(pid, niceness);
  } catch (error) {
    // It has ended already.
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
