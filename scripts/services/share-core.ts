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
  const core = lastCore();
  if (core === null) return;
  for (const pid of pids) spawnSync("taskset", ["-a", "-c", "-p", core, String(pid)], { stdio: "ignore" });
}

function isShared(): boolean {
  return availableParallelism() === 2;
}

/** Of those that this process may run on. */
function lastCore(): string | null {
  try {
    return /^Cpus_allowed_list:\s.*?(\d+)$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? null;
  } catch {
    return null;
  }
}
