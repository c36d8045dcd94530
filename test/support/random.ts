/** Random numbers that a seed repeats: Mulberry32, good enough for shuffling. @returns numbers from 0 to below 1 */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export function shuffled<T>(list: readonly T[], random: () => number): T[] {
  return list
    .map((one) => ({ one, order: random() }))
    .toSorted((a, b) => a.order - b.order)
    .map(({ one }) => one);
}
