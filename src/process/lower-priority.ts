import { getPriority, setPriority } from "node:os";

/**
 * Lowers a process's priority, and leaves it where it is as low already: to raise it again needs a right that services lack.
 * @param priority as of `nice`: higher is less
 */
export function lowerPriority(pid: number, priority: number): void {
  if (getPriority(pid) < priority) setPriority(pid, priority);
}
