/** The owner of a data folder, as the file DATA_DIR/lock names it. */
import { readFile, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../kernel/clock.ts";
import { lockSilenceMsMax } from "../limits.ts";
import { isRunning, type ProcessIdentity } from "./process-identity.ts";

export interface Owner extends ProcessIdentity {
  id: string;
  /** Where its process id is valid; null: written by a version that did not know. */
  place: string | null;
  /** When it last showed that it lives. */
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

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
