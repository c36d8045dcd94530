/**
 * Measures how long a function blocks the thread, as CPU time, so that other work of the machine does not count. A slow run is
 * repeated up to twice, and the best counts: garbage collection and compilation also run on this thread at any time, but a slow
 * expression is slow each time.
 */
export const blockedMsMax = 50;

const attempts = 3;

export function blockedMs(run: () => void): number {
  let best = Infinity;
  for (let attempt = 0; attempt < attempts && best > blockedMsMax; attempt++) {
    const before = process.threadCpuUsage();
    run();
    const { user, system } = process.threadCpuUsage(before);
    best = Math.min(best, (user + system) / 1_000);
  }
  return best;
}
