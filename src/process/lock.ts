/**
 * One process owns a data folder: PGlite and the spools do not lock, and two owners lose what was acknowledged.
 *
 * DATA_DIR/lock names its owner by process id and start time, so that a dead owner is recognized even if its id is in use again.
 * Processes that want the lock exclude each other by claims. Each creates a claim file with its own name, then reads the others; if
 * another claim's process lives, it withdraws and tries again. Of two processes the later always sees the earlier's claim, and since
 * a claim is named after its process, removing a dead one never removes a living one.
 */
import { randomInt } from "node:crypto";
import { mkdir, readFile, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { sleep, systemClock, type Clock } from "../kernel/clock.ts";
import { newInternalId } from "../kernel/ids.ts";
import { identityOf, isRunning, type ProcessIdentity } from "./process-identity.ts";

const claimPauseMs = 20;
const claimAttemptsMax = 100;
const foldersMax = 1_024;

/** The folder has a living owner. */
export class LockedError extends Error {
  override name = "LockedError";
  readonly folder: string;
  readonly pid: number;

  constructor(folder: string, pid: number) {
    super(`The data folder "${folder}" belongs to process ${pid}, which is running: stop it or set another DATA_DIR`);
    this.folder = folder;
    this.pid = pid;
  }
}

export interface LockOptions {
  /** By default this process. */
  pid?: number;
  clock?: Clock;
}

/**
 * Makes this process the owner of `folder` until the lock is disposed. Creates the folder if it is missing, and takes over the lock
 * of a dead owner.
 * @throws LockedError with the owner, which may be this process
 */
export async function takeLock(folder: string, options: LockOptions = {}): Promise<AsyncDisposable> {
  const { pid = process.pid, clock = systemClock } = options;
  const home = resolve(folder);
  const self = await identityOf(pid);
  if (self === null) throw new Error(`Cannot lock "${home}" for process ${pid}: it is not running`);
  await mkdir(home, { recursive: true, mode: 0o700 });
  const claim = await claimLock({ home, self, clock });
  try {
    const owner = await readOwner(home);
    if (owner !== null && (await isRunning(owner))) throw new LockedError(home, owner.pid);
    await rename(claim.path, join(home, "lock"));
  } finally {
    await rm(claim.path, { force: true });
  }
  return { [Symbol.asyncDispose]: () => release(home, claim.id) };
}

/**
 * Takes the lowest free folder DATA_DIR/<role>-<n>, so that a process that replaces a dead one finds its files.
 * @throws Error if all are taken
 */
export async function takeNumberedFolder(
  dataDir: string,
  role: string,
  options: LockOptions = {},
): Promise<{ folder: string; number: number; lock: AsyncDisposable }> {
  for (let number = 1; number <= foldersMax; number++) {
    const folder = join(resolve(dataDir), `${role}-${number}`);
    try {
      return { folder, number, lock: await takeLock(folder, options) };
    } catch (error) {
      if (!(error instanceof LockedError)) throw error;
    }
  }
  throw new Error(`Cannot find a folder for a ${role} in "${dataDir}": all ${foldersMax} have living owners`);
}

interface Taker {
  home: string;
  self: ProcessIdentity;
  clock: Clock;
}

/** Gets the right to read the lock and to replace it by the claim. @throws LockedError if others keep claiming for seconds */
async function claimLock({ home, self, clock }: Taker): Promise<{ path: string; id: string }> {
  const id = newInternalId(clock.now());
  const name = `lock.claim.${self.pid}.${encodeURIComponent(self.start)}.${id}`;
  const path = join(home, name);
  for (let attempt = 1; ; attempt++) {
    await writeClaim(path, `${JSON.stringify({ ...self, id })}\n`);
    const other = await otherClaimant(home, name);
    if (other === null) return { path, id };
    await rm(path, { force: true });
    if (attempt === claimAttemptsMax) throw new LockedError(home, other);
    await sleep(clock, claimPauseMs + randomInt(claimPauseMs));
  }
}

/** Removes a file that could not be written, as on a full disk: it would stay as the claim of a living process. */
async function writeClaim(path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text, { mode: 0o600 });
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
}

/** The id of another living process that claims the lock. Removes the claims of dead ones. */
async function otherClaimant(home: string, own: string): Promise<number | null> {
  for (const name of await readdir(home)) {
    const match = name === own ? null : /^lock\.claim\.(\d+)\.([^.]+)\.[^.]+$/.exec(name);
    if (!match) continue;
    const identity = { pid: Number(match[1]), start: decodeURIComponent(match[2] ?? "") };
    if (await isRunning(identity)) return identity.pid;
    await rm(join(home, name), { force: true });
  }
  return null;
}

interface Owner extends ProcessIdentity {
  id: string;
}

/** null if there is none, or if a power cut left it unreadable: then its owner is gone, too. */
async function readOwner(home: string): Promise<Owner | null> {
  try {
    const owner: Partial<Owner> | null = JSON.parse(await readFile(join(home, "lock"), "utf8"));
    const { pid, start, id } = owner ?? {};
    return typeof pid === "number" && typeof start === "string" && typeof id === "string" ? { pid, start, id } : null;
  } catch (error) {
    if (error instanceof SyntaxError || isMissing(error)) return null;
    throw error;
  }
}

/** Removes the lock unless it was taken again, even by this process. */
async function release(home: string, id: string): Promise<void> {
  const owner = await readOwner(home);
  if (owner?.id === id) await rm(join(home, "lock"), { force: true });
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
