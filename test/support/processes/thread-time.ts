const attempts = 3;

/**
 * Measures how long a function takes, as CPU time of this thread, so that other work of the machine does not count. A run that takes
 * `enough` milliseconds or more is repeated up to twice, and the shortest counts: garbage collection and compilation also run on this
 * thread at any time, but a slow function is slow each time.
 */
export function threadMs(run: () => void, enough: number): number {
  let best = Infinity;
  for (let attempt = 0; attempt < attempts && best >= enough; attempt++) {
    const before = process.threadCpuUsage();
    run();
    const { user, system } = process.threadCpuUsage(before);
    best = Math.min(best, (user + system) / 1_000);
  }
  return best;
}
