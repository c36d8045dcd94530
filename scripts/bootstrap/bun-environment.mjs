/** What processes of ours on Bun are started with. */

/** All of them. Bun's allocator reads it, and nothing of ours does. */
export const bunEnvironment = {
  // It gives back memory that was unused for a tenth of a second, and asks for it again at the next request: a tenth of all CPU time.
  MIMALLOC_PURGE_DELAY: "5000",
  // It looks for unused memory within what is used each time that the event loop waits, which is after nearly every request: a tenth more.
  MIMALLOC_PURGE_HOLES: "0",
};

/** Those that must not outlive who started them: Bun then ends when its parent has died, however that died. */
export const endingWithParent = { BUN_FEATURE_FLAG_NO_ORPHANS: "1" };
