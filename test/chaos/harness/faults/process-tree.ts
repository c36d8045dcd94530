/** A server may be several processes: all of them are to be frozen, not their parent alone. */
import { readFileSync } from "node:fs";

/** The process and all that it started, parents first. Where the system does not tell: the process alone. */
export function processTree(pid: number): number[] {
  return [pid, ...childrenOf(pid).flatMap(processTree)];
}

function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

/** Those that are gone meanwhile need no signal. */
export function signalTree(pid: number, signal: NodeJS.Signals): void {
  for (const one of processTree(pid)) {
    try {
      process.kill(one, signal);
    } catch {
      // It has ended.
    }
  }
}
