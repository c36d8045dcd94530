/**
 * Puts processes on one core. NATS, Redis and the admission workers hand each request over four times, with some microseconds of work each.
 * On two cores the kernel spreads them, and each hand-over first wakes a sleeping core; on one core it is only a context switch.
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";

/** How late a sleeping thread may wake. */
const timerSlackNs = 5_000_000;

/** How a server starts, apart from its program and arguments. */
export interface Start {
  environment: Record<string, string>;
  /** Precedes the program. */
  prefix: string[];
}

/**
 * How a Go server starts on its shared core. Go runs as many threads as there are cores, and counts them once. Another of its threads
 * checks these every 20 µs while there is work, several times a request, between the other processes of the core. With this slack it rarely
 * runs, yet at most half as late as Go's own limit for an idle process. https://man7.org/linux/man-pages/man2/PR_SET_TIMERSLACK.2const.html
 */
export function goStart(): Start {
  if (!isShared()) return { environment: {}, prefix: [] };
  const script = `{ echo ${timerSlackNs} > /proc/self/timerslack_ns; } 2>/dev/null; exec "$@"`;
  return { environment: { GOMAXPROCS: "1" }, prefix: ["sh", "-c", script, "sh"] };
}

/** Runs these processes on one core if this machine has two. On other machines, and without `taskset`, nothing changes. */
export function shareCore(pids: readonly number[]): void {
  if (!isShared()) return;
  const core = coreAt("last");
  if (core === null) return;
  for (const pid of pids) spawnSync("taskset", ["-a", "-c", "-p", core, String(pid)], { stdio: "ignore" });
}

/**
 * Runs this process's first thread on the core that `shareCore` does not use. Existing threads stay free: a compiler or a
 * garbage collector may use idle time.
 */
export function takeFirstCore(pid: number): void {
  if (!isShared()) return;
  const core = coreAt("first");
  if (core !== null) spawnSync("taskset", ["-c", "-p", core, String(pid)], { stdio: "ignore" });
}

function isShared(): boolean {
  return availableParallelism() === 2;
}

/** The cores that this process may use. */
function coreAt(place: "first" | "last"): string | null {
  try {
    const [, list = ""] = /^Cpus_allowed_list:\s*(.+)$/m.exec(readFileSync("/proc/self/status", "utf8")) ?? [];
    const cores = list.trim().split(/\D/);
    return cores.at(place === "first" ? 0 : -1) || null;
  } catch {
    return null;
  }
}
