/** Limits of workspaces, members and keys, and of what each may use at once. Each value has its row in docs/limits.md. */

// From the specification
export const requestsPerMinuteDefault = 60;
export const requestsPerMinuteMin = 1;
export const requestsPerMinuteMax = 10_000;

// Stored prompts and the keys that seal them
export const dataKeysAtOnce = 1_000;

// Control API
export const nameCharactersMax = 200;
export const emailCharactersMax = 254;
/** The counters' scripts compute in doubles: a larger balance would not be exact. */
export const balanceUsdMax = 9_000_000;
export const balanceNanoMax = 9_000_000_000_000_000n;

// Quotas: what a workspace stores
export const quotaHourMs = 3_600_000;

// Quotas: calls of a tools key
export const toolsCallsPerMinuteDefault = 600;
/** How often gateways exchange their counts. */
export const toolsCallsShareMs = 250;
/** Keys with counts; above it, keys without a call in the last minute are dropped. */
export const toolsKeysCountedMax = 10_000;

// Quotas: bodies in transfer
export const budgetRetryMs = 1_000;

// Quotas: disk of a process
/** With fewer free bytes, documents and attachments are refused, so that charges can still be written. */
export const diskFloorBytes = 512 * 1024 * 1024;
export const diskLookMs = 1_000;
export const diskRetryMs = 60_000;

// Tools API
/** How often the last use of a tools key is stored. */
export const toolsKeyUseMs = 60_000;
