/** Signals all processes of a server, since a server may be several processes. */
import { readFileSync } from "node:fs";

/** The process and its descendants, parents first. Only the process where the system does not list children. */
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

/** Ignores processes that have ended meanwhile. */
export function signalTree(pid: number, signal: NodeJS.Signals): void {
  for (const one of processTree(pid)) {
    try {
      process.kill(one, signal);
    } catch {
      // It has ended.
    }
  }
}
