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

// Sessions of the Console
export const sessionIdleMsMax = 12 * 3_600_000;
export const sessionAgeMsMax = 7 * 24 * 3_600_000;
/** How often the last use of a session is stored. */
export const sessionUseMs = 60_000;
/** Sensitive actions want a sign-in that is not older. */
export const recentSignInMs = 3_600_000;
export const agentCharactersMax = 200;
/** How long links sign in. */
export const signInLinkMsMax = 3_600_000;
export const invitationLinkMsMax = 24 * 3_600_000;
export const passwordLinkMsMax = 3_600_000;

// Passwords and tries
export const passwordCharactersMin = 15;
export const passwordCharactersMax = 200;
export const signInTriesMs = 15 * 60_000;
/** For one address from one network. */
export const signInTriesMax = 10;
export const signInTriesOfNetworkMax = 100;
export const passwordsHashedAtOnceMax = 2;
export const passwordsWaitingMax = 64;
export const passwordsWaitingPerNetworkMax = 10;
export const passwordWaitMs = 5_000;
