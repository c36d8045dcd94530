/** Limits of calls that time out. Each value has its row in docs/internals/limits.md. */

/** What a workspace's timed-out requests may cost its providers in an hour without being charged, in each process. */
export const unpaidNanoMax = 50_000_000n;
export const unpaidWindowMs = 3_600_000;
/** Work within so long is remembered as one. */
export const unpaidSpanMs = 60_000;
/** Workspaces whose unpaid work a process remembers: those with the newest. */
export const unpaidWorkspacesMax = 10_000;
