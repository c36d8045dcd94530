/** Lets a process, and all that it starts, take only the CPU time that processes of ordinary priority leave. */
import type { ChildProcess } from "node:child_process";
import { setPriority } from "node:os";

/** On Linux about a third of the share of an ordinary process, while both want the CPU. */
const niceness = 5;

export function bePatient({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    setPriority(pid, niceness);
  } catch (error) {
    // It has ended already.
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
