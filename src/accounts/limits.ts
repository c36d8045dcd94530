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
/** Sessions of a person; a further one ends the one that was used longest ago. */
export const sessionsMax = 50;
/** How often the last use of a session is stored. */
export const sessionUseMs = 60_000;
/** Sensitive actions want a sign-in that is not older. */
export const recentSignInMs = 3_600_000;
export const agentCharactersMax = 200;
/** How long links sign in. */
export const signInLinkMsMax = 3_600_000;
export const invitationLinkMsMax = 24 * 3_600_000;
export const passwordLinkMsMax = 3_600_000;
/** Links for a new password that a person has at once; each came in a mail. */
export const passwordLinksMax = 3;

// Passwords and tries
export const passwordCharactersMin = 15;
export const passwordCharactersMax = 200;
export const signInTriesMs = 15 * 60_000;
/** For one address from one network. */
export const signInTriesMax = 10;
export const signInTriesOfNetworkMax = 100;
/** How long a browser is known in which a person signed in. */
export const knownBrowserMsMax = 90 * 24 * 3_600_000;
export const passwordsHashedAtOnceMax = 2;
export const passwordsWaitingMax = 64;
export const passwordsWaitingPerNetworkMax = 10;
export const passwordWaitMs = 5_000;

// Signing in: codes of an app
/** A code counts for its own step of 30 s, the one before and the one after. */
export const totpStepMs = 30_000;
export const totpStepsAround = 1;
export const totpSecretBytes = 20;
/** How long a new secret waits for its first code. */
export const secondFactorPendingMs = 3_600_000;
/** Between the password and the code. */
export const firstStepMs = 600_000;
export const recoveryCodesCount = 10;
/** Wrong codes of an account within `wrongCodesWindowMs`; further codes are refused unread until it ends. */
export const wrongCodesInWindowMax = 10;
export const wrongCodesWindowMs = 900_000;
/** Wrong codes of an account without a right one between them; then only the operator opens it again. */
export const wrongCodesInRowMax = 100;

// Signing in: OpenID Connect
/** Between the button and the return from the provider. */
export const oidcSignInMs = 600_000;
export const oidcCallMs = 5_000;
/** All calls of the provider that a sign-in needs. */
export const oidcExchangeMs = 15_000;
export const oidcAnswerBytesMax = 256 * 1024;
/** How long the provider's own description of itself is kept. */
export const oidcDiscoveryAgeMs = 3_600_000;
/** Sign-ins that a gateway confirms with the provider at once, all together and for one network. */
export const oidcExchangesMax = 16;
export const oidcExchangesPerNetworkMax = 4;
export const oidcExchangesWaitingMax = 64;
export const oidcExchangesWaitingPerNetworkMax = 8;
