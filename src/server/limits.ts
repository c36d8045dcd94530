/** Limits of starting and stopping a server. Each value has its row in docs/limits.md. */

// Metering and shutdown
export const readyDeadlineMs = 1_500;
/** And then until no kept connection has brought a last request for so long, */
export const shutdownLingerMs = 200;
/** or this is over. */
export const shutdownLingerMsMax = 2_000;
export const shutdownDrainMs = 25_000;
export const shutdownFlushMs = 10_000;
