/**
 * The owner of a data folder, as the file DATA_DIR/lock names it, and whether it is alive.
 *
 * A process is recognized by its id, its start time and the boot, so that a dead one with a reused id is not taken for the owner. Ids
 * are valid only at one place: a namespace of process ids of one boot of one machine. An owner elsewhere cannot be looked up, so its
 * last beat is believed.
 */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readFile, stat, utimes, readlink } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Clock } from "../kernel/clock.ts";
import { errorCode } from "../kernel/error-code.ts";
import { lockSilenceMsMax } from "./limits.ts";

export interface Owner extends ProcessIdentity {
  id: string;
  /** Where its process id is valid; null: the file does not say. */
  place: string | null;
  /** When it last showed that it is alive. */
  beatMs: number;
}

/** null if there is none, or if a power cut left it unreadable: then its owner is gone, too. */
export async function readOwner(home: string): Promise<Owner | null> {
  const path = join(home, "lock");
  try {
    const [text, { mtimeMs }] = await Promise.all([readFile(path, "utf8"), stat(path)]);
    const owner: Partial<Owner> | null = JSON.parse(text);
    const { pid, start, id, place } = owner ?? {};
    if (typeof pid !== "number" || typeof start !== "string" || typeof id !== "string") return null;
    return { pid, start, id, place: typeof place === "string" ? place : null, beatMs: mtimeMs };
  } catch (error) {
    if (error instanceof SyntaxError || isMissing(error)) return null;
    throw error;
  }
}

/** Whether a process at `place` cannot look the owner up. */
export function isElsewhere(owner: Pick<Owner, "place">, place: string): boolean {
  return owner.place !== null && owner.place !== place;
}

/** Looks the owner up where that is possible, and otherwise believes its last beat. */
export async function isLiving(owner: Owner, { place, clock }: { place: string; clock: Clock }): Promise<boolean> {
  if (!isElsewhere(owner, place)) return isRunning(owner);
  return clock.now() - owner.beatMs < lockSilenceMsMax;
}

/** Shows that the owner of this file lives. */
export async function beat(path: string, clock: Clock): Promise<void> {
  await utimes(path, clock.now() / 1_000, clock.now() / 1_000);
}

/** The folder has a live owner. */
export class LockedError extends Error {
  override name = "LockedError";
  readonly folder: string;
  readonly pid: number;

  /** @param elsewhere whether the owner's id is one of another container or machine */
  constructor(folder: string, { pid }: Pick<Owner, "pid">, elsewhere = false) {
    const owner = elsewhere
      ? `process ${pid} of another container or machine, which showed within the last ${lockSilenceMsMax / 1_000} s that it runs`
      : `process ${pid}, which is running`;
    super(`The data folder "${folder}" belongs to ${owner}: stop it or set another DATA_DIR`);
    this.folder = folder;
    this.pid = pid;
  }
}

/** Distinguishes a running process from a dead one with the same id by its start time. */
export interface ProcessIdentity {
  pid: number;
  /** The start time as the system writes it, only to be compared. */
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

/** Where this process's ids are valid, only to be compared. Processes of two containers do not see each other and may have the same id. */
export async function placeOfThisProcess(): Promise<string> {
  const [boot, namespace] = await Promise.all([bootId(), readlink("/proc/self/ns/pid").catch(() => hostname())]);
  return createHash("sha256").update(`${boot}/${namespace}`).digest("hex").slice(0, 16);
}

function isMissing(error: unknown): boolean {
  return errorCode(error) === "ENOENT";
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

async function bootId(): Promise<string> {
  return (await readFile("/proc/sys/kernel/random/boot_id", "utf8").catch(() => "")).trim();
}

async function startElsewhere(pid: number): Promise<string | null> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (errorCode(error) !== "EPERM") return null;
  }
  try {
    const { stdout } = await promisify(execFile)("ps", ["-o", "lstart=", "-p", String(pid)], { env: { LC_ALL: "C" } });
    return stdout.trim() || null;
  } catch {
    return "unknown"; // No ps: then a process id in use counts as its old owner.
  }
}
