/**
 * One process owns a data folder: PGlite and the spools do not lock, and two owners lose what was acknowledged.
 *
 * DATA_DIR/lock names its owner by process id and start time, so that a dead owner is recognized even if its id is in use again.
 * A process of another container cannot look that id up. So the owner also touches the file every two seconds, and an owner elsewhere
 * that did not for 15 s counts as dead. An owner that was only slow finds another's name in the file, and ends.
 */
import { mkdir, rename, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { sleep, systemClock, type Clock } from "../../kernel/clock.ts";
import { repeatUntilStopped } from "../../kernel/repeat.ts";
import { lockBeatMs } from "../limits.ts";
import { ConfigError } from "../variables.ts";
import { claimLock, type Taker } from "./claim.ts";
import { LockedError } from "./locked-error.ts";
import { beat, isElsewhere, isLiving, readOwner, type Owner } from "./owner.ts";
import { identityOf, placeOfThisProcess } from "./process-identity.ts";

const foldersMax = 1_024;

export interface LockOptions {
  /** By default this process. */
  pid?: number;
  /** Where process ids are valid; by default where this process runs. */
  place?: string;
  clock?: Clock;
  /** Whether to wait until it is certain whether an owner in another container lives; by default yes. */
  waits?: boolean;
  /** Called when another process took the lock, because this one was silent for too long. By default this process ends at once. */
  lost?: (folder: string) => void;
}

/**
 * Makes this process the owner of `folder` until the lock is disposed. Creates the folder if it is missing, and takes over the lock
 * of a dead owner.
 * @throws LockedError with the owner, which may be this process; ConfigError if the folder cannot be written
 */
export async function takeLock(folder: string, options: LockOptions = {}): Promise<AsyncDisposable> {
  const { pid = process.pid, clock = systemClock, waits = true, lost = endThisProcess } = options;
  const home = resolve(folder);
  const self = await identityOf(pid);
  if (self === null) throw new Error(`Cannot lock "${home}" for process ${pid}: it is not running`);
  const place = options.place ?? (await placeOfThisProcess());
  const id = await takeFromDead({ home, self, place, clock }, waits).catch((error: unknown) => {
    throw isOfSystem(error) ? new ConfigError(`Cannot use the data folder "${home}": ${error.message}`, { cause: error }) : error;
  });
  const beating = keepBeating({ home, id, clock, lost });
  return {
    async [Symbol.asyncDispose]() {
      await beating[Symbol.asyncDispose]();
      await release(home, id);
    },
  };
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
      return { folder, number, lock: await takeLock(folder, { waits: false, ...options }) };
    } catch (error) {
      if (!(error instanceof LockedError)) throw error;
    }
  }
  throw new Error(`Cannot find a folder for a ${role} in "${dataDir}": all ${foldersMax} have living owners`);
}

/** @returns the id of the lock */
async function takeFromDead(taker: Taker, waits: boolean): Promise<string> {
  const { home, place, clock } = taker;
  await mkdir(home, { recursive: true, mode: 0o700 });
  for (let before: Owner | null = null; ;) {
    const taken = await takeUnlessOwned(taker);
    if (typeof taken === "string") return taken;
    const elsewhere = isElsewhere(taken, place);
    const hasBeaten = before !== null && (before.id !== taken.id || before.beatMs !== taken.beatMs);
    if (!elsewhere || !waits || hasBeaten) throw new LockedError(home, taken, elsewhere);
    before = taken;
    await sleep(clock, lockBeatMs / 2);
  }
}

/** @returns the id of the lock, or the living owner */
async function takeUnlessOwned(taker: Taker): Promise<string | Owner> {
  const { home } = taker;
  const claim = await claimLock(taker);
  try {
    const owner = await readOwner(home);
    if (owner !== null && (await isLiving(owner, taker))) return owner;
    await rename(claim.path, join(home, "lock"));
    return claim.id;
  } finally {
    await rm(claim.path, { force: true });
  }
}

interface Beating {
  home: string;
  id: string;
  clock: Clock;
  lost(folder: string): void;
}

function keepBeating({ home, id, clock, lost }: Beating): AsyncDisposable {
  return repeatUntilStopped({
    clock,
    async round() {
      const owner = await readOwner(home);
      if (owner !== null && owner.id !== id) return lost(home);
      await beat(join(home, "lock"), clock);
    },
    everyMs: lockBeatMs,
    pauseFirst: true,
    // The folder may be away or gone. If another process takes the lock meanwhile, the next round finds its name.
    onError() {},
  });
}

function endThisProcess(folder: string): void {
  console.error(`This process was silent for so long that another one took its data folder "${folder}": it ends at once`);
  process.exit(1);
}

/** Such as EACCES, EROFS or ENOSPC. */
function isOfSystem(error: unknown): error is Error {
  return error instanceof Error && "syscall" in error;
}

/** Removes the lock unless it was taken again, even by this process. */
async function release(home: string, id: string): Promise<void> {
  const owner = await readOwner(home);
  if (owner?.id === id) await rm(join(home, "lock"), { force: true });
}
