/** How long `work` takes, in milliseconds, in the fastest of five runs: on a busy machine any single run may be slow. */
export async function quickestMs(work: () => Promise<unknown>): Promise<number> {
  const taken: number[] = [];
  for (let count = 0; count < 5; count++) {
    const startedAt = performance.now();
    await work();
    taken.push(performance.now() - startedAt);
  }
  return Math.min(...taken);
}
