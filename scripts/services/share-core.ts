/**
 * NATS, Redis and the admission workers hand each request to each other four times, for some microseconds each. On two cores the
 * kernel spreads them, and each hand-over first wakes a core that had gone to sleep; on one core it is a mere switch.
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";

/** What a server written in Go is started with: it has as many threads run its code as there are cores, and looks at that once. */
export function goEnvironment(): Record<string, string> {
  return isShared() ? { GOMAXPROCS: "1" } : {};
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
    return (place === "first" ? /^\d+/ : /\d+$/).exec(list)?.[0] ?? null;
  } catch {
    return null;
  }
}
