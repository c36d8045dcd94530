/** Limits of synchronizations of advisories that the service runs itself. */

/** A synchronization that the service runs itself; npm's archive takes some minutes. */
export const advisorySyncMs = 2 * 3_600_000;
/** Between two times that such a run shows that it lives, and without which it counts as lost. */
export const advisorySyncSeenMs = 1_000;
export const advisorySyncSilenceMs = 60_000;
/** Between two begins of a run where the operator named a source, and between two looks at whether one is due. */
export const advisorySyncEveryMs = 24 * 3_600_000;
export const advisorySyncLookMs = 3_600_000;
/** A line of its progress. */
export const advisorySyncProgressCharactersMax = 300;
/** The result that its command prints. */
export const advisorySyncOutputBytesMax = 8 * 1024 * 1024;
