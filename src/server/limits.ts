/** The limits of starting and stopping a server, and of its own pages. */

// Metering and shutdown
/** Deadline of one check of `/ready`. */
export const readyDeadlineMs = 1_500;
/** After leaving the port, the shutdown waits until no open connection has sent a request for this long. */
export const shutdownLingerMs = 200;
/** The longest such wait. */
export const shutdownLingerMsMax = 2_000;
/** How long answers under way may continue when a process ends. */
export const shutdownDrainMs = 25_000;
/** How long their charges may take to reach the ledger. */
export const shutdownFlushMs = 10_000;

/** The pause between two hints in the log that clients call an endpoint at a wrong path. */
export const wrongPathHintMs = 60_000;
