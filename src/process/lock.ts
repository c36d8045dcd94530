/**
 * One process owns a data folder: PGlite and the spools do not lock, and two owners would lose acknowledged data.
 *
 * The owner holds the kernel's lock, flock(2), of DATA_DIR/lock. The kernel gives it to at most one process, and releases it when that
 * process ends, however it ends. So a dead owner's folder is free at once, a stopped or slow owner keeps its folder, and nothing depends on
 * a clock. Containers on one machine share its kernel, and so this lock. The file names its owner, only for the message of a refusal. A
 * released lock leaves no file: the owner removes the file while it holds the lock, and a lock on a removed file counts for nothing.
 *
 * Why no package, as measured: proper-lockfile considers an owner dead after 10 s without a sign, so a dead owner blocked its successor for
 * 10.9 s, and a stopped one's folder got a second owner after 10.8 s. fs-ext and os-lock compile at install, where no scripts run here.
 * fs-native-extensions aborts the process as soon as Bun refuses its lock. SQLite, which is part of Bun, locks as well, but its file could
 * not name the owner.
 *
 * What it does not do: two machines that share a folder exclude each other only if its file system locks for both. NFS does, unless it is
 * mounted with `nolock` or `local_lock`; then the operator must stop one of them. A file system without locks is refused.
 */
import { closeSync, fstatSync, mkdirSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { constants, hostname } from "node:os";
import { join, resolve } from "node:path";
import { getSystemErrorName } from "node:util";
import { sleep, systemClock } from "../kernel/clock.ts";
import { errorCode } from "../kernel/error-code.ts";
import { lastError, openLibrary } from "./c-library.ts";
import { ConfigError } from "./environment/variables.ts";

const foldersMax = 1_024;
/** How often to look for an owner that has the lock but has not yet written its name. */
const attemptsMax = 50;
const pauseMs = 20;

/**
 * Makes this process the owner of `folder` until the lock is disposed. Creates the folder if it is missing.
 * @throws LockedError with the owner, which may be this process; ConfigError if the folder cannot be written or locked
 */
export async function takeLock(folder: string): Promise<AsyncDisposable> {
  const home = resolve(folder);
  const path = join(home, "lock");
  for (let attempt = 1; ; attempt++) {
    const lock = openLocked(home, path);
    if (lock !== null) return lock;
    const owner = ownerOf(path);
    if (owner === null ? attempt === attemptsMax : attempt === attemptsMax || isThere(owner)) throw new LockedError(home, owner);
    await sleep(systemClock, pauseMs);
  }
}

/**
 * Takes the lowest free folder DATA_DIR/<role>-<n>, so that a process that replaces a dead one finds its files.
 * @throws Error if all are taken
 */
export async function takeNumberedFolder(
  dataDir: string,
  role: string,
): Promise<{ folder: string; number: number; lock: AsyncDisposable }> {
  for (let number = 1; number <= foldersMax; number++) {
    const folder = join(resolve(dataDir), `${role}-${number}`);
    try {
      return { folder, number, lock: await takeLock(folder) };
    } catch (error) {
      if (!(error instanceof LockedError)) throw error;
    }
  }
  throw new Error(`Cannot find a folder for a ${role} in "${dataDir}": all ${foldersMax} have living owners`);
}

/** The folder has a live owner. */
export class LockedError extends Error {
  override name = "LockedError";
  readonly folder: string;
  /** null: the owner does not say. */
  readonly pid: number | null;

  constructor(folder: string, owner: Owner | null) {
    const place = owner === null || owner.host === hostname() ? "" : ` of "${owner.host}"`;
    const process = owner === null ? "another process" : `process ${owner.pid}${place}`;
    super(`The data folder "${folder}" belongs to ${process}, which is running: stop it or set another DATA_DIR`);
    this.folder = folder;
    this.pid = owner?.pid ?? null;
  }
}

/** @returns null if another open file has the lock, or had it and removed the file, so that the next attempt finds another file */
function openLocked(home: string, path: string): AsyncDisposable | null {
  let file: LockableFile | null = null;
  let isOwner = false;
  const release = () => {
    if (file === null) return;
    if (isOwner && isAt(path, file)) rmSync(path, { force: true });
    file.close();
    file = null;
  };
  try {
    mkdirSync(home, { recursive: true, mode: 0o700 });
    file = openLockable(path);
    isOwner = file.tryLock() && isAt(path, file);
    if (isOwner) {
      writeFileSync(path, `${JSON.stringify({ pid: process.pid, host: hostname() } satisfies Owner)}\n`);
      return { [Symbol.asyncDispose]: async () => release() };
    }
    release();
    return null;
  } catch (error) {
    release();
    if (!(error instanceof Error && "syscall" in error)) throw error;
    throw new ConfigError(`Cannot use the data folder "${home}": ${error.message}`, { cause: error });
  }
}

/** Whether the file is still the one of this path: its last owner may have removed it meanwhile. */
function isAt(path: string, file: LockableFile): boolean {
  const [there, own] = [statSync(path, { throwIfNoEntry: false }), file.status()];
  return there?.ino === own.ino && there?.dev === own.dev;
}

/** An open file of its own, which holds the lock until it is closed. */
interface LockableFile {
  /** @returns false if another open file has the lock @throws ConfigError where nothing can be locked */
  tryLock(): boolean;
  status(): { ino: number | null; dev: number };
  close(): void;
}

/** What is used of Deno, whose descriptors are not those of the system: its own files lock by flock(2) too. */
interface Deno {
  openSync(
    path: string,
    options: { read: true; append: true; create: true; mode: number },
  ): { tryLockSync(exclusive: boolean): boolean; statSync(): { ino: number | null; dev: number }; close(): void };
}

function openLockable(path: string): LockableFile {
  const { Deno: deno } = globalThis as { Deno?: Deno };
  if (deno !== undefined) {
    const file = deno.openSync(path, { read: true, append: true, create: true, mode: 0o600 });
    return { tryLock: () => file.tryLockSync(true), status: () => file.statSync(), close: () => file.close() };
  }
  const descriptor = openSync(path, "a+", 0o600);
  return { tryLock: () => lockDescriptor(descriptor), status: () => fstatSync(descriptor), close: () => closeSync(descriptor) };
}

const exclusiveNow = 2 | 4; // LOCK_EX | LOCK_NB
const library = openLibrary({ flock: { args: ["i32", "i32"], returns: "i32" } });

function lockDescriptor(descriptor: number): boolean {
  if (library === null) throw new ConfigError("Cannot lock the data folder: the system's C library cannot be called");
  if (library.flock(descriptor, exclusiveNow) === 0) return true;
  const code = lastError();
  if (code === constants.errno.EWOULDBLOCK) return false;
  throw new ConfigError(`Cannot lock the data folder: its file system answers ${getSystemErrorName(-code)}`);
}

interface Owner {
  pid: number;
  /** The name of its machine or container. */
  host: string;
}

/** null while an owner has not written its name. */
function ownerOf(path: string): Owner | null {
  try {
    const { pid, host }: Partial<Owner> = JSON.parse(readFileSync(path, "utf8")) ?? {};
    return typeof pid === "number" && typeof host === "string" ? { pid, host } : null;
  } catch (error) {
    if (error instanceof SyntaxError || errorCode(error) === "ENOENT") return null;
    throw error;
  }
}

/** False for the name that a dead owner left, until its successor writes its own. */
function isThere({ pid, host }: Owner): boolean {
  if (host !== hostname()) return true;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return errorCode(error) === "EPERM";
  }
}
