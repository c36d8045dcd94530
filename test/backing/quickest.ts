/** How long `work` takes, in milliseconds, at the quickest of five times: on a busy machine any single one may be late. */
export async function quickestMs(work: () => Promise<unknown>): Promise<number> {
  const taken: number[] = [];
  for (let count = 0; count < 5; count++) {
    const startedAt = performance.now();
    await work();
    taken.push(performance.now() - startedAt);
  }
  return Math.min(...taken);
}
