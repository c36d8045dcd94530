/** Limits of the Console. Each value has its row in docs/limits.md. */

/** For a page to be made. */
export const pageDeadlineMs = 10_000;
/** A form's body, without a file. */
export const formBytesMax = 256 * 1024;
export const formMs = 10_000;
export const formFieldsMax = 500;
/** Pages that are made at once, so that they leave time to requests of models. */
export const pageLimits = { runningMax: 8, runningPerHolderMax: 2, waitingMax: 200, waitingPerHolderMax: 16, waitMs: 5_000 };
