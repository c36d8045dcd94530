/** Distinguishes a running process from a dead one with the same id by its start time. */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";

export interface ProcessIdentity {
  pid: number;
  /** The start time as the system writes it, for comparison only. */
  start: string;
}

/** null if no such process runs; a zombie does not run. */
export async function identityOf(pid: number): Promise<ProcessIdentity | null> {
  const start = process.platform === "linux" ? await startOnLinux(pid) : await startElsewhere(pid);
  return start === null ? null : { pid, start };
}

export async function isRunning(identity: ProcessIdentity): Promise<boolean> {
  const present = await identityOf(identity.pid);
  return present?.start === identity.start;
}

/** Clock ticks since boot (proc(5), stat field 22), and the id of the boot: after a power cut ids and ticks repeat. */
async function startOnLinux(pid: number): Promise<string | null> {
  const [stat, boot] = await Promise.all([
    readFile(`/proc/${pid}/stat`, "utf8").catch(() => null),
    readFile("/proc/sys/kernel/random/boot_id", "utf8").catch(() => ""),
  ]);
  // The second field is the command in parentheses and may hold anything, so fields are counted from its end.
  const fields = stat?.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [state, ticks] = [fields?.[0], fields?.[19]];
  if (state === undefined || ticks === undefined || state === "Z" || state === "X") return null;
  return `${boot.trim()}-${ticks}`;
}

async function startElsewhere(pid: number): Promise<string | null> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EPERM")) return null;
  }
  try {
    const { stdout } = await promisify(execFile)("ps", ["-o", "lstart=", "-p", String(pid)], { env: { LC_ALL: "C" } });
    return stdout.trim() || null;
  } catch {
    return "unknown"; // No ps: then a process id in use counts as its old owner.
  }
}
