/**
 * Environment variables of Weir's processes on Bun. A user's own values take precedence.
 */

/** For every process. Only Bun's allocator reads these. */
export const bunEnvironment = {
  // By default the allocator returns memory after 0.1 s without use and takes it back at the next request: a tenth of all CPU time.
  MIMALLOC_PURGE_DELAY: "5000",
  // By default it looks for holes in its memory each time the event loop waits, which is after nearly every request: another tenth. At most
  // every 10 s (in ms) it costs some 20 ms each time, and after load a gateway holds two thirds of the memory that it holds without it.
  MIMALLOC_PURGE_HOLES: "1",
  MIMALLOC_PURGE_HOLES_MIN_INTERVAL: "10000",
};

/** For processes that must not outlive their parent: Bun exits when its parent has died, even by kill -9. */
export const endingWithParent = { BUN_FEATURE_FLAG_NO_ORPHANS: "1" };

/**
 * Calls to this machine bypass any proxy, since the command line's calls carry the operator token. The lower-case variable takes
 * precedence.
 * @param environment of the parent
 */
export function directOnThisMachine({ no_proxy: lower, NO_PROXY: upper }) {
  const listed = lower || upper;
  if (listed === "*") return {};
  const hosts = [...(listed ? [listed] : []), "localhost", "127.0.0.1", "[::1]", "::1"].join(",");
  return { NO_PROXY: hosts, no_proxy: hosts };
}
