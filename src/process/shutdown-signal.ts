/** SIGINT and SIGTERM start an orderly shutdown; another one, at least a second later, ends the process at once. */

/** Resolves with the name of the first signal. */
export function shutdownSignal(): Promise<string> {
  return new Promise((resolve) => {
    let askedAt: number | null = null;
    const stop = (signal: string): void => {
      if (askedAt === null) {
        askedAt = performance.now();
        resolve(signal);
      } else if (performance.now() - askedAt > 1_000) {
        process.exit(130);
      }
    };
    process.on("SIGINT", () => stop("SIGINT"));
    process.on("SIGTERM", () => stop("SIGTERM"));
  });
}
