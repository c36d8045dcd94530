/** Reads the cost of processes from Linux's /proc. */
import { readdirSync, readFileSync } from "node:fs";

export interface Usage {
  /** User and system time since the start, including ended children. */
  cpuSeconds: number;
  /** Resident memory. Memory that several processes share counts once (proportional set size). */
  residentBytes: number;
}

/** Linux reports hundredths of a second to user space, independent of the kernel's tick. */
const ticksPerSecond = 100;

/** The usage of a process with all its descendants. Zero when it has ended. */
export function usageOf(pid: number): Usage {
  const processes = familyOf(pid);
  const root = processes.find((process) => process.pid === pid);
  const ticks = processes.reduce((sum, process) => sum + process.ownTicks, 0) + (root?.endedChildrenTicks ?? 0);
  const residentBytes = processes.reduce((sum, process) => sum + residentOf(process.pid, processes.length > 1), 0);
  return { cpuSeconds: ticks / ticksPerSecond, residentBytes };
}

/** Resident memory of these processes. What one shares with others counts by its share. */
export function proportionalOf(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + residentOf(pid, true), 0);
}

/** The processes that this one started and that run. */
export function childrenOf(pid: number): number[] {
  return familyOf(pid).flatMap((process) => (process.parent === pid ? [process.pid] : []));
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

/** Reads fields 4 and 14 to 17 of proc(5). The name in field 2 may contain any character, and ends at the last bracket. */
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
