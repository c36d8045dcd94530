/**
 * For how long something holds the thread: its CPU time and not the time of day, so that a machine that is busy with other work
 * does not count. Of what looks too long two more attempts are made and the best counts: the collector of garbage and the
 * compiler run on this thread too, whenever they like; a slow expression is slow each time.
 */
export const heldMsMax = 50;

const attempts = 3;

export function heldMs(run: () => void): number {
  let best = Infinity;
  for (let attempt = 0; attempt < attempts && best > heldMsMax; attempt++) {
    const before = process.threadCpuUsage();
    run();
    const { user, system } = process.threadCpuUsage(before);
    best = Math.min(best, (user + system) / 1_000);
  }
  return best;
}
