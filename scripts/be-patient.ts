/** Lets a process, and all that it starts, take only the CPU time that processes of ordinary priority leave. */
import { spawnSync, type ChildProcess } from "node:child_process";
import { setPriority } from "node:os";

/** On Linux a seventieth of the share of an ordinary process, while both want the CPU: work that no one waits for fills the gaps. */
const niceness = 19;

let canDrop: boolean | null = null;

/** The words before a command that keep it patient: Chromium, where it may, gives itself more than its parent has. */
export function stayPatient(): string[] {
  const words = ["setpriv", "--bounding-set=-sys_nice", "--"];
  canDrop ??= spawnSync("setpriv", [...words.slice(1), "true"]).status === 0;
  return canDrop ? words : [];
}

/** What it has started before keeps its priority. */
export function bePatient({ pid }: Pick<ChildProcess, "pid">): void {
  if (pid === undefined) return;
  try {
    setPriority(pid, niceness);
  } catch (error) {
    // It has ended already.
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
