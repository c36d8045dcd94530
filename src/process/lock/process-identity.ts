/** Distinguishes a running process from a dead one with the same id by its start time. */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readFile, readlink } from "node:fs/promises";
import { hostname } from "node:os";
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

/**
 * Where this process's ids are valid, for comparison only: a namespace of process ids, of one boot of one machine. Processes of two
 * containers do not see each other, and each may have the same id.
 */
export async function placeOfThisProcess(): Promise<string> {
  const [boot, namespace] = await Promise.all([bootId(), readlink("/proc/self/ns/pid").catch(() => hostname())]);
  return createHash("sha256").update(`${boot}/${namespace}`).digest("hex").slice(0, 16);
}

async function bootId(): Promise<string> {
  return (await readFile("/proc/sys/kernel/random/boot_id", "utf8").catch(() => "")).trim();
}

/** Clock ticks since boot (proc(5), stat field 22), and the id of the boot: after a power cut ids and ticks repeat. */
async function startOnLinux(pid: number): Promise<string | null> {
  const [stat, boot] = await Promise.all([readFile(`/proc/${pid}/stat`, "utf8").catch(() => null), bootId()]);
  // The second field is the command in parentheses and may hold anything, so fields are counted from its end.
  const fields = stat?.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [state, ticks] = [fields?.[0], fields?.[19]];
  if (state === undefined || ticks === undefined || state === "Z" || state === "X") return null;
  return `${boot}-${ticks}`;
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
