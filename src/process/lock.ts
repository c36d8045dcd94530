/**
 * One process owns a data folder: PGlite and the spools do not lock, and two owners lose what was acknowledged.
 *
 * DATA_DIR/lock names its owner by process id and start time, so that a dead owner is recognized even if its id is in use again. A
 * process of another container cannot look that id up. So the owner also touches the file every two seconds, and an owner elsewhere
 * that did not for 15 s counts as dead. An owner that was only slow finds another's name in the file, and ends.
 *
 * Processes that want the lock exclude each other by claims. Each creates a claim file with its own name, then reads the others; if
 * another claim's process lives, it withdraws and tries again. Of two processes the later always sees the earlier's claim, and since a
 * claim is named after its process, removing a dead one never removes a live one.
 */
import { randomInt } from "node:crypto";
import { mkdir, rename, rm, readdir, stat, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { sleep, systemClock, type Clock } from "../kernel/clock.ts";
import { newInternalId } from "../kernel/ids.ts";
import { repeatUntilStopped } from "../kernel/repeat.ts";
import { ConfigError } from "./environment/variables.ts";
import { lockBeatMs, lockClaimMsMax } from "./limits.ts";
import {
  LockedError,
  beat,
  isElsewhere,
  isLiving,
  readOwner,
  type Owner,
  identityOf,
  placeOfThisProcess,
  isRunning,
  type ProcessIdentity,
} from "./lock-owner.ts";

const foldersMax = 1_024;

interface LockOptions {
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

function endThisProcess(folder: string): void {
  console.error(`This process was silent for so long that another one took its data folder "${folder}": it ends at once`);
  process.exit(1);
}

interface Taker {
  home: string;
  self: ProcessIdentity;
  /** Where the process ids of `self` and of its neighbours are valid. */
  place: string;
  clock: Clock;
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

/** @returns the id of the lock, or the live owner */
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

const claimAttemptsMax = 100;
const claimPauseMs = 20;

/** Gets the right to read the lock and to replace it with the claim. @throws LockedError if others keep claiming for seconds */
async function claimLock({ home, self, place, clock }: Taker): Promise<{ path: string; id: string }> {
  const id = newInternalId(clock.now());
  const name = `lock.claim.${self.pid}.${encodeURIComponent(self.start)}.${place}~${id}`;
  const path = join(home, name);
  for (let attempt = 1; ; attempt++) {
    await writeClaim(path, `${JSON.stringify({ ...self, id, place })}\n`, clock);
    const other = await otherClaimant(home, { own: name, place, clock });
    if (other === null) return { path, id };
    await rm(path, { force: true });
    if (attempt === claimAttemptsMax) throw new LockedError(home, other);
    await sleep(clock, claimPauseMs + randomInt(claimPauseMs));
  }
}

/** Removes a file that could not be written, as on a full disk: it would stay as the claim of a live process. */
async function writeClaim(path: string, text: string, clock: Clock): Promise<void> {
  try {
    await writeFile(path, text, { mode: 0o600 });
    await beat(path, clock);
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
}

interface Claimant {
  own: string;
  place: string;
  clock: Clock;
}

/** Another live process that claims the lock. Removes the claims of dead ones. */
async function otherClaimant(home: string, { own, place, clock }: Claimant): Promise<ProcessIdentity | null> {
  for (const name of await readdir(home)) {
    const match = name === own ? null : /^lock\.claim\.(\d+)\.([^.]+)\.(?:([^.~]+)~)?[^.~]+$/.exec(name);
    if (!match) continue;
    const identity = { pid: Number(match[1]), start: decodeURIComponent(match[2] ?? "") };
    const claims = (match[3] ?? place) === place ? await isRunning(identity) : await isFresh(join(home, name), clock);
    if (claims) return identity;
    // A process that was only slow cannot take the lock without its claim.
    await rm(join(home, name), { force: true });
  }
  return null;
}

async function isFresh(path: string, clock: Clock): Promise<boolean> {
  const written = await stat(path).catch(() => null);
  return written !== null && clock.now() - written.mtimeMs < lockClaimMsMax;
}

/** Such as EACCES, EROFS or ENOSPC. */
function isOfSystem(error: unknown): error is Error {
  return error instanceof Error && "syscall" in error;
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

/** Removes the lock unless it was taken again, even by this process. */
async function release(home: string, id: string): Promise<void> {
  const owner = await readOwner(home);
  if (owner?.id === id) await rm(join(home, "lock"), { force: true });
}
