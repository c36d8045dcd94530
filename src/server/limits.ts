/** The limits of starting and stopping a server, and of its own pages. */

// Metering and shutdown
/** One check of `/ready`. */
export const readyDeadlineMs = 1_500;
/** After leaving the port, the shutdown waits until no open connection has sent a request for this long, */
export const shutdownLingerMs = 200;
/** at most for this long. */
export const shutdownLingerMsMax = 2_000;
/** How long answers under way may go on when a process ends. */
export const shutdownDrainMs = 25_000;
/** How long what they owe may take to reach the ledger. */
export const shutdownFlushMs = 10_000;

/** The pause between two hints in the log that clients ask for an endpoint at a path that is not served. */
export const wrongPathHintMs = 60_000;
