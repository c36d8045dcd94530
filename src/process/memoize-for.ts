import type { Clock } from "../kernel/clock.ts";

/** What is costly to find out, found out once for all who ask within a time. What fails is tried again for the next. */
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
