/** What every process of ours on Bun is started with. Bun's allocator reads it, and nothing else of ours does. */
export const bunEnvironment = {
  // It gives back memory that was unused for a tenth of a second, and asks for it again at the next request: a tenth of all CPU time.
  MIMALLOC_PURGE_DELAY: "5000",
  // It looks for unused memory within what is used each time that the event loop waits, which is after nearly every request: a tenth more.
  MIMALLOC_PURGE_HOLES: "0",
};
