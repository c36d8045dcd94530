/**
 * NATS, Redis and the admission workers hand each request to each other four times, for some microseconds each. On two cores the
 * kernel spreads them, and each hand-over first wakes a core that had gone to sleep; on one core it is a mere switch.
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";

/** How late a thread that asked to sleep for less may be woken. */
const timerSlackNs = 5_000_000;

/** How a server is started, beside its own program and arguments. */
export interface Start {
  environment: Record<string, string>;
  /** Stands before the program. */
  prefix: string[];
}

/**
 * How a server written in Go is started for the core that it will share. It has as many threads run its code as there are cores, and looks
 * at that once. One more of its threads looks after those every 20 µs while there is work, several times a request, in between the others
 * of that core; with this slack it hardly comes, and at most half as late as it allows itself while there is nothing to do.
 * https://man7.org/linux/man-pages/man2/PR_SET_TIMERSLACK.2const.html
 */
export function goStart(): Start {
  if (!isShared()) return { environment: {}, prefix: [] };
  const script = `{ echo ${timerSlackNs} > /proc/self/timerslack_ns; } 2>/dev/null; exec "$@"`;
  return { environment: { GOMAXPROCS: "1" }, prefix: ["sh", "-c", script, "sh"] };
}

/** Has these processes run on one core, where this machine has two; elsewhere, and without `taskset`, they stay where they are. */
export function shareCore(pids: readonly number[]): void {
  if (!isShared()) return;
  const core = coreAt("last");
  if (core === null) return;
  for (const pid of pids) spawnSync("taskset", ["-a", "-c", "-p", core, String(pid)], { stdio: "ignore" });
}

/**
 * Has the thread that this process began with run on the other core than `shareCore` takes. Threads that it has already stay free: a compiler or
 * collector of garbage may use what is idle.
 */
export function takeFirstCore(pid: number): void {
  if (!isShared()) return;
  const core = coreAt("first");
  if (core !== null) spawnSync("taskset", ["-c", "-p", core, String(pid)], { stdio: "ignore" });
}

function isShared(): boolean {
  return availableParallelism() === 2;
}

/** Of those that this process may run on. */
function coreAt(place: "first" | "last"): string | null {
  try {
    const list = /^Cpus_allowed_list:\s*(.+)$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? "";
    return (
      list
        .trim()
        .split(/\D/)
        .at(place === "first" ? 0 : -1) || null
    );
  } catch {
    return null;
  }
}
