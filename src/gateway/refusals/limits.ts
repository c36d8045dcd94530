/** Limits of refused calls: what a flood of them may cost in memory, in writes and on the disk. */
/** How long counts and refused calls are kept. */
export const refusedDays = 31;
/** Refused calls of a workspace that are kept with their message. */
export const refusedKeptMax = 200;
/** Refused calls of all workspaces that wait in a gateway to be written; those of a workspace replace its own oldest. */
export const refusedWaitingMax = 2_000;
/** Different counts that wait in a gateway; further ones count without a key. */
export const refusedCountsWaitingMax = 10_000;
/** Pairs of key and code of a workspace that have their own count in a minute; further ones count without a key. */
export const refusedPairsMax = 50;
/** Further counts that wait, by code and time over all workspaces. */
export const refusedSumsWaitingMax = 1_000;
/** Pause between a gateway's writes, which have all that was refused meanwhile. */
export const refusedWriteMs = 2_000;
/** How often what is too old is deleted, and how many rows by one statement. */
export const refusedForgetMs = 60_000;
export const refusedForgetRowsMax = 5_000;
/** Rows of an answer with counts, unless `limit` says otherwise, and at most. */
export const refusedCountRowsDefault = 1_000;
export const refusedCountRowsMax = 10_000;
/** The most days that are counted by the minute. */
export const refusedMinuteDaysMax = 1;
