/** What processes cost, read from Linux's /proc: our own figures, not theirs. */
import { readdirSync, readFileSync } from "node:fs";

export interface Usage {
  /** User and system time since the start, of ended children too. */
  cpuSeconds: number;
  /** Resident memory; what several processes share is counted once (proportional set size). */
  residentBytes: number;
}

/** Linux counts in hundredths of a second for every user space, whatever the kernel's own tick. */
const ticksPerSecond = 100;

/** A process with all its descendants. Zero when it is gone. */
export function usageOf(pid: number): Usage {
  const processes = familyOf(pid);
  const root = processes.find((process) => process.pid === pid);
  const ticks = processes.reduce((sum, process) => sum + process.ownTicks, 0) + (root?.endedChildrenTicks ?? 0);
  const residentBytes = processes.reduce((sum, process) => sum + residentOf(process.pid, processes.length > 1), 0);
  return { cpuSeconds: ticks / ticksPerSecond, residentBytes };
}

interface Stat {
  pid: number;
  parent: number;
  ownTicks: number;
  endedChildrenTicks: number;
}

function familyOf(pid: number): Stat[] {
  const all = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => statOf(Number(name)) ?? []);
  const family = all.filter((process) => process.pid === pid);
  for (const member of family) family.push(...all.filter((process) => process.parent === member.pid));
  return family;
}

/** Fields 4 and 14 to 17 of proc(5); the name in field 2 may hold anything, but it ends with the last bracket. */
function statOf(pid: number): Stat | null {
  const text = readOrEmpty(`/proc/${pid}/stat`);
  if (text === "") return null;
  const fields = text
    .slice(text.lastIndexOf(")") + 2)
    .split(" ")
    .map(Number);
  const field = (number: number): number => fields[number - 3] ?? 0;
  return { pid, parent: field(4), ownTicks: field(14) + field(15), endedChildrenTicks: field(16) + field(17) };
}

function residentOf(pid: number, shared: boolean): number {
  const proportional = shared ? /^Pss: +(\d+) kB/m.exec(readOrEmpty(`/proc/${pid}/smaps_rollup`))?.[1] : undefined;
  const resident = proportional ?? /^VmRSS:\s+(\d+) kB/m.exec(readOrEmpty(`/proc/${pid}/status`))?.[1];
  return Number(resident ?? 0) * 1_024;
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return ""; // The process ended meanwhile.
  }
}
