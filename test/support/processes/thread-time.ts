const attempts = 3;

/**
 * Measures how long a function takes, as CPU time of this thread, so that other work of the machine does not count. A run that takes
 * `enough` milliseconds or more is repeated up to twice, and the shortest counts: garbage collection and compilation also run on this
 * thread at any time, but a slow function is slow each time.
 *
 * CPU time itself grows on a slow core, or on one that shares its caches with busy neighbours. A time that is too long is therefore divided
 * by how much slower than usual this thread does a fixed piece of work at that moment.
 */
export function threadMs(run: () => void, enough: number): number {
  const best = shortest(run, enough);
  if (best < enough) return best;
  return best / Math.max(1, shortest(fixedWork, fixedWorkMs) / fixedWorkMs);
}

function shortest(run: () => void, enough: number): number {
  let best = Infinity;
  for (let attempt = 0; attempt < attempts && best >= enough; attempt++) {
    const before = process.threadCpuUsage();
    run();
    const { user, system } = process.threadCpuUsage(before);
    best = Math.min(best, (user + system) / 1_000);
  }
  return best;
}

/** What `fixedWork` takes on an idle core of 2.1 GHz. */
const fixedWorkMs = 12;

/** Some of what the measured functions do: it writes and reads JSON, and looks at each character. */
function fixedWork(): void {
  const rows = Array.from({ length: 60_000 }, (_, id) => ({ id, name: `row ${id}`.repeat(8) }));
  const text = JSON.stringify(JSON.parse(JSON.stringify(rows)));
  let sum = 0;
  for (let at = 0; at < text.length; at++) sum += text.charCodeAt(at);
  if (sum === 0) throw new Error("The text has no characters");
}
