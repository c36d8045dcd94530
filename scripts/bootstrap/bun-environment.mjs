/** Variables that Weir's processes on Bun start with. A user's own values count before these. */

/** For every process. Only Bun's allocator reads these. */
export const bunEnvironment = {
  // By default the allocator returns memory that was unused for 0.1 s and takes it again at the next request: a tenth of all CPU time.
  MIMALLOC_PURGE_DELAY: "5000",
  // By default it looks for holes in its memory each time the event loop waits, which is after nearly every request: a tenth more. At
  // most every 10 s (in ms) it costs some 20 ms each time, and a gateway holds two thirds after load of what it holds without it.
  MIMALLOC_PURGE_HOLES: "1",
  MIMALLOC_PURGE_HOLES_MIN_INTERVAL: "10000",
};

/** For processes that must not outlive their parent: Bun ends when its parent has died, even by kill -9. */
export const endingWithParent = { BUN_FEATURE_FLAG_NO_ORPHANS: "1" };

/**
 * What goes to this machine passes no proxy: calls of the command line carry the operator token. Lower case counts before capitals.
 * @param environment of the parent
 */
export function directOnThisMachine({ no_proxy: lower, NO_PROXY: upper }) {
  const listed = lower || upper;
  if (listed === "*") return {};
  const hosts = [...(listed ? [listed] : []), "localhost", "127.0.0.1", "[::1]", "::1"].join(",");
  return { NO_PROXY: hosts, no_proxy: hosts };
}
