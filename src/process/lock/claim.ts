/**
 * Processes that want the lock of a folder exclude each other by claims. Each creates a claim file with its own name, then reads the
 * others; if another claim's process lives, it withdraws and tries again. Of two processes the later always sees the earlier's claim,
 * and since a claim is named after its process, removing a dead one never removes a living one.
 */
import { randomInt } from "node:crypto";
import { readdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sleep, type Clock } from "../../kernel/clock.ts";
import { newInternalId } from "../../kernel/ids.ts";
import { lockClaimMsMax } from "../limits.ts";
import { LockedError } from "./locked-error.ts";
import { beat } from "./owner.ts";
import { isRunning, type ProcessIdentity } from "./process-identity.ts";

const claimPauseMs = 20;
const claimAttemptsMax = 100;

export interface Taker {
  home: string;
  self: ProcessIdentity;
  /** Where the process ids of `self` and of its neighbours are valid. */
  place: string;
  clock: Clock;
}

/** Gets the right to read the lock and to replace it by the claim. @throws LockedError if others keep claiming for seconds */
export async function claimLock({ home, self, place, clock }: Taker): Promise<{ path: string; id: string }> {
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

/** Removes a file that could not be written, as on a full disk: it would stay as the claim of a living process. */
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

/** Another living process that claims the lock. Removes the claims of dead ones. */
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
