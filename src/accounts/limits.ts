/**
 * The limits of workspaces, members and keys, and of what each may use at once: every bound of the wing with its unit, so that none
 * is in a verb.
 */

// Rates of keys
/** Requests per minute of a key by default. */
export const requestsPerMinuteDefault = 60;
/** Minimum requests per minute of a key. */
export const requestsPerMinuteMin = 1;
/** Maximum requests per minute of a key. */
export const requestsPerMinuteMax = 10_000;

// Stored prompts and the keys that seal them
/** Data keys that one statement of `secrets rotate` seals again. */
export const dataKeysAtOnce = 1_000;
/** Ten years. */
export const promptRetentionDaysMax = 3_650;

// Control API
/** Longest name. */
export const nameCharactersMax = 200;
/** Longest e-mail address. */
export const emailCharactersMax = 254;
/** The counters' scripts compute in doubles: a larger balance would not be exact. */
export const balanceUsdMax = 9_000_000;
/** The same in nano-USD. */
export const balanceNanoMax = 9_000_000_000_000_000n;

// Quotas: what a workspace stores
/** The sliding hour of quotas. */
export const quotaHourMs = 3_600_000;

/** Tests of a workspace's provider keys in an hour, including those of new and replaced keys. */
export const providerKeyTestsPerHourMax = 30;
/** Tests of a workspace's connections in an hour; beyond it 429. */
export const connectionTestsPerHourMax = 30;
/** Readings of people that a workspace asks for in an hour; beyond it 429. */
export const peopleReadingsPerHourMax = 30;

// Quotas: calls of a tools key
/** Calls per minute of a tools key without its own limit; a sliding window that does not count refused calls. */
export const toolsCallsPerMinuteDefault = 600;
/** How often gateways exchange their counts. */
export const toolsCallsShareMs = 250;
/** Keys with counts; above it, keys without a call in the last minute are dropped. */
export const toolsKeysCountedMax = 10_000;

// Quotas: bodies in transfer
/** `Retry-After` when bodies hold too many bytes. */
export const budgetRetryMs = 1_000;
/** A body this far behind the minimum rate gives its place to a waiting one. */
export const bodyGivesWayMs = 250;
/** The same for a small body that anyone may send: honest senders send it in one piece. */
export const strangerGivesWayMs = 20;

// Quotas: disk of a process
/** With fewer free bytes, documents and attachments are refused, so that charges can still be written. */
export const diskFloorBytes = 512 * 1024 * 1024;
/** How often the free space is measured. */
export const diskLookMs = 1_000;
/** `Retry-After` of such a refusal. */
export const diskRetryMs = 60_000;

// Tools API
/** How often the last use of a tools key is stored. */
export const toolsKeyUseMs = 60_000;

// Sessions of the Console
/** How long a session lasts without use. */
export const sessionIdleMsMax = 12 * 3_600_000;
/** How long a session lasts in any case. */
export const sessionAgeMsMax = 7 * 24 * 3_600_000;
/** Sessions of a person; another one ends the least recently used. */
export const sessionsMax = 50;
/** How often the last use of a session is stored. */
export const sessionUseMs = 60_000;
/** Oldest sign-in with which sensitive actions are allowed. */
export const recentSignInMs = 3_600_000;
/** How long a link or a sign-in at the provider replaces the current password when a person sets a new one. */
export const freshProofMs = 15 * 60_000;
/** How much of a browser's `User-Agent` is stored. */
export const agentCharactersMax = 200;
/** How long the operator's sign-in link is valid. */
export const signInLinkMsMax = 3_600_000;
/** How long the link of an invitation is valid. */
export const invitationLinkMsMax = 24 * 3_600_000;
/** How long the link for a new password is valid. */
export const passwordLinkMsMax = 3_600_000;
/** Valid links for a new password that a person has at once; each was mailed. */
export const passwordLinksMax = 3;

// Saved views of lists
/** Views that a member saves of one list; beyond it 409. */
export const savedViewsMax = 20;
/** Longest name of a view. */
export const savedViewNameCharactersMax = 60;
/** Longest query of a view. */
export const savedViewCharactersMax = 1_000;
/** Views with which the menu opens lists, of one person in all workspaces. */
export const defaultViewsMax = 1_000;

// Passwords and tries
/** Shortest password. */
export const passwordCharactersMin = 15;
/** Longest password. */
export const passwordCharactersMax = 200;
/** The window in which tries are counted. */
export const signInTriesMs = 15 * 60_000;
/** Tries for one address from one network. */
export const signInTriesMax = 10;
/** Tries from one network for all addresses; beyond it 429. */
export const signInTriesOfNetworkMax = 100;
/** How long a browser stays known after a person signed in with it. */
export const knownBrowserMsMax = 90 * 24 * 3_600_000;
/** Passwords that a process hashes at once. */
export const passwordsHashedAtOnceMax = 2;
/** Passwords that wait to be hashed. */
export const passwordsWaitingMax = 64;
/** Waiting passwords from one network. */
export const passwordsWaitingPerNetworkMax = 10;
/** The longest wait. */
export const passwordWaitMs = 5_000;

// Signing in: codes of an app
/** A code counts for its own step of 30 s, the one before and the one after. */
export const totpStepMs = 30_000;
/** Steps before and after its own in which a code counts. */
export const totpStepsAround = 1;
/** The secret of an app. */
export const totpSecretBytes = 20;
/** How long a new secret waits for its first code. */
export const secondFactorPendingMs = 3_600_000;
/** Longest time between the password and the code. */
export const firstStepMs = 600_000;
/** Recovery codes of an account. */
export const recoveryCodesCount = 10;
/** Wrong codes of an account within `wrongCodesWindowMs`; further codes are refused unread until it ends. */
export const wrongCodesInWindowMax = 10;
/** The window in which wrong codes are counted. */
export const wrongCodesWindowMs = 900_000;
/** Wrong codes of an account in a row; after that only the operator can unlock it. */
export const wrongCodesInRowMax = 100;

// Signing in: OpenID Connect
/** Longest time between the button and the return from the provider. */
export const oidcSignInMs = 600_000;
/** Timeout of one call to the provider. */
export const oidcCallMs = 5_000;
/** Timeout of all calls to the provider that a sign-in needs. */
export const oidcExchangeMs = 15_000;
/** Largest answer of the provider. */
export const oidcAnswerBytesMax = 256 * 1024;
/** How long the provider's discovery document is cached. */
export const oidcDiscoveryAgeMs = 3_600_000;
/** Sign-ins that a gateway confirms with the provider at once. */
export const oidcExchangesMax = 16;
/** Such sign-ins from one network. */
export const oidcExchangesPerNetworkMax = 4;
/** Sign-ins that wait to be confirmed. */
export const oidcExchangesWaitingMax = 64;
/** Waiting sign-ins from one network. */
export const oidcExchangesWaitingPerNetworkMax = 8;

// Mails
/** How often the mailer looks for mails without a notification. */
export const mailPollMs = 5_000;
/** Pause after the first temporary refusal of a mail; doubled with each attempt. */
export const mailRetryMs = 60_000;
/** Longest such pause. */
export const mailRetryMsMax = 21_600_000;
/** Attempts at a mail; then it is given up, with an alarm. */
export const mailAttemptsMax = 10;
/** Pause after the first failed connection to the mail server; doubled with each failure. */
export const mailServerRetryMs = 1_000;
/** Longest such pause. */
export const mailServerRetryMsMax = 60_000;
/** Timeout of connecting to a mail server, of its greeting and of each reply. */
export const mailServerMs = 30_000;

// Alerts
/** How often spend and balances are compared with the rules. */
export const alertWatchMs = 30_000;
/** A workspace is compared again after this time even if its ledger has not grown: a limit or a key may have changed. */
export const alertWatchAgeMs = 600_000;
/** A period that ended less than this time ago is still watched, since charges arrive late. */
export const alertLateMs = 3_600_000;
/** New alerts of one rule in one round; the next round has the others. */
export const alertsOfRuleMax = 200;
/** Workspaces that one round compares before it looks for changes again. */
export const alertWorkspacesMax = 200;
/** Rules of a workspace; beyond it 409. */
export const alertRulesMax = 50;
/** Thresholds of a rule. */
export const alertPercentsMax = 5;
/** A balance arms its rule again at this percentage of the amount. */
export const alertRearmPercent = 125;
/** Admins who get the mail, by address. */
export const alertMailRecipientsMax = 50;
/** Alerts that a mail lists; it says how many more there are. */
export const alertMailLinesMax = 50;
/** Alerts in a list by default. */
export const alertRowsDefault = 50;
/** Most alerts in a list. */
export const alertRowsMax = 200;
/** How long alerts and their deliveries are kept. */
export const alertKeptMs = 90 * 24 * 3_600_000;
/** Expired alerts that one round deletes. */
export const alertsForgottenAtOnceMax = 1_000;

// Alerts: webhooks
/** Webhooks of a workspace; beyond it 409. */
export const alertWebhooksMax = 5;
/** Longest name of a webhook. */
export const alertWebhookNameCharactersMax = 100;
/** Longest address of a webhook. */
export const alertWebhookUrlCharactersMax = 2_000;
/** How long the former secret signs together with the new one. */
export const alertSecretOverlapMs = 24 * 3_600_000;
/** Tests of a workspace's webhooks in an hour; beyond it 429. */
export const alertTestsPerHourMax = 30;
/** Deliveries that wait for one webhook; further ones are given up at once. */
export const alertDeliveriesWaitingMax = 100;
/** How often to look for waiting deliveries without a notification. */
export const alertDeliveryPollMs = 5_000;
/** Webhooks called at once, with one call each. */
export const alertDeliveriesAtOnce = 16;
/** Timeout of one call to a webhook, including its answer. */
export const alertCallMs = 10_000;
/** Largest answer of a webhook; a larger one is a failure. */
export const alertAnswerBytesMax = 64 * 1024;
/** Pause after the first failed delivery; doubled with each attempt. */
export const alertRetryMs = 30_000;
/** Longest such pause. */
export const alertRetryMsMax = 7_200_000;
/** How long a delivery is retried. */
export const alertDeliveryMsMax = 24 * 3_600_000;
