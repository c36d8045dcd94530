/** What a workspace has lent to gateways. */
import type { KeyId } from "../../../kernel/ids.ts";
import type { NanoUsd } from "../../../kernel/money.ts";
import { noneLent, type LentPlaces } from "./admission-log.ts";

/** The blocks of a key. */
export interface LentToKey {
  blocks: Map<string, { places: number; amount: NanoUsd; countsUntil: number }>;
  pausedUntil: number;
}

/** The blocks of a workspace. */
export interface Lending {
  /** No block counts in a window after this. */
  countsUntil: number;
  /** No block keeps credit that it does not need after this. */
  holdsUntil: number;
  /** What was lent since none held any: at least what they hold. */
  amount: NanoUsd;
  pausedUntil: number;
  keys: Map<KeyId, LentToKey>;
}

export function nothingLent(): Lending {
  return { countsUntil: 0, holdsUntil: 0, amount: 0n, pausedUntil: 0, keys: new Map() };
}

/** Places lent of a key's window. */
export function lentPlaces({ countsUntil, keys }: Lending, key: KeyId, now: number): LentPlaces {
  if (countsUntil <= now) return noneLent;
  const found = { ...noneLent };
  for (const block of keys.get(key)?.blocks.values() ?? []) {
    if (block.countsUntil <= now) continue;
    found.places += block.places;
    found.leaveAt = Math.min(found.leaveAt, block.countsUntil);
  }
  return found;
}

/** What blocks may hold that nothing uses: of a key, or of the workspace. Nothing after a recall: they were asked. */
export function lentAmount({ holdsUntil, amount, pausedUntil, keys }: Lending, key: KeyId | null, now: number): NanoUsd {
  if (pausedUntil > now || holdsUntil <= now) return 0n;
  if (key === null) return amount;
  const ofKey = keys.get(key);
  if (!ofKey || ofKey.pausedUntil > now) return 0n;
  let sum = 0n;
  for (const block of ofKey.blocks.values()) if (block.countsUntil > now) sum += block.amount;
  return sum;
}

export function isRecallable({ pausedUntil, keys }: Lending, key: KeyId, now: number): boolean {
  return pausedUntil <= now && (keys.get(key)?.pausedUntil ?? 0) <= now;
}
