/**
 * Shares one result of a costly call among all callers for a while. Neither a failure nor an expired result is kept.
 */
import type { Clock } from "../kernel/clock.ts";

/** @returns a function that calls `find` if its last result is older than `ms` */
export function memoizeFor<T>(ms: number, clock: Clock, find: () => Promise<T>): () => Promise<T> {
  let last: { at: number; found: Promise<T> } | null = null;
  return () => {
    const now = clock.monotonic();
    if (last !== null && now - last.at < ms) return last.found;
    const found = find();
    const mine = { at: now, found };
    last = mine;
    found.catch(() => {
      if (last === mine) last = null;
    });
    return found;
  };
}
