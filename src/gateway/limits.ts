/** Limits of the inference gateway. Each value has its row in docs/limits.md. */

// From the specification
export const bodyBytesMax = 8 * 1024 * 1024;
export const messagesMax = 2_000;
export const temperatureMax = 2;
export const keyRecordAgeMsMax = 30_000;
export const upstreamRetryAfterSeconds = 5;

// Bodies
export const modelIdCharactersMax = 256;

// Admission
export const unknownKeyAgeMsMax = 5_000;
export const admissionBatchMax = 128;
export const admissionBatchBytesMax = 64 * 1024;
export const rebuildWaitMs = 1_000;
export const rebuildReportMs = 300;

// Metering
export const settlementBatchMax = 400;
/** Settlements leave a gateway at most this often, unless a batch is full: what ends meanwhile travels together. */
export const settlementPauseMs = 50;
export const settlementBatchBytesMax = 256 * 1024;
export const settlementTransactionMax = 2_000;
/** Metering takes events at most this often, unless as many as it takes at once were there: transactions are large under load. */
export const settlementPaceMs = 100;
export const settlementEventsMax = 64;
/** Above this many generations without a confirmed charge a gateway admits no more. */
export const unsettledMax = 200_000;
export const meteringLagMsMax = 300_000;

// Streams
/** How late the end of a wait of a provider call or of a stream may be noticed. */
export const timerStepMs = 500;
export const streamCommentMs = 15_000;
/** A stream whose provider is silent for this long starts with a comment, and its later failures are events in it. */
export const firstEventMsMax = 15_000;
/** A client that takes nothing for this long while something waits for it counts as gone. */
export const streamStallMsMax = 60_000;
/** A stream whose client has left is read on for so long at most. */
export const drainMsMax = 60_000;
export const drainsMax = 1_024;
export const drainsPerWorkspaceMax = 16;
export const upstreamAnswerBytesMax = 32 * 1024 * 1024;
export const probeOutputTokensMax = 16;

// Caches and waits of admission
export const recordsCachedMax = 100_000;
export const unknownKeysCachedMax = 10_000;
export const recordLookupMs = 1_000;
/** How often a ledger that is used is looked at beside its counters: a database may have been restored. */
export const ledgerCheckMs = 30_000;
/** Looks that nobody waits for are gathered for so long. */
export const ledgerCheckBatchMs = 250;
/** A record that is used at this age is read again while it serves. */
export const readAheadAgeMs = 20_000;
/** Such reads are gathered for so long. */
export const readAheadPauseMs = 50;
/** How long a worker lets a message wait for counters that are being loaded before it says "ask again". */
export const loadDeadlineMs = 40;
export const admissionRetryMs = 20;
export const countersTimeAgeMsMax = 1_000;
export const admissionRequestsWaitingMax = 20_000;
export const releasesWaitingMax = 100_000;
export const releaseRetryMs = 500;
export const backlogPollMs = 5_000;

// The spool and the settlement publisher
export const spoolSegmentBytesMax = 1024 * 1024;
/** How often the spool is told how far open generations are, and after how long what it was told is told again. */
export const progressMs = 900;
export const progressRefreshMs = 30_000;
export const publishesInFlightMax = 4;
export const publishDeadlineMs = 10_000;
/** Doubled from attempt to attempt. */
export const publishRetryMs = 50;
export const publishRetryMsMax = 5_000;
export const confirmationMs = 10_000;
export const confirmationMsMax = 300_000;
export const orphanScanMs = 10_000;
export const adoptionFlushMs = 30_000;
export const pruneMs = 15_000;

// Metering and shutdown
export const sweepMs = 10_000;
export const sweepBatchMax = 200;
export const reconcileMs = 60_000;
export const proberPauseMs = 5_000;
export const inFlightPollMs = 50;

// Models and providers
/** Well within the 30 s in which a changed catalog counts. */
export const catalogPollMs = 5_000;
export const launchChecksPollMs = 10_000;
export const launchChecksReadMs = 2_000;
export const launchChecksRetryMs = 500;
export const hiddenInputTokensDefault = 64;
export const hiddenInputTokensWithTools = 1_024;
export const inputTokensPerMessage = 16;
/** How often gateways share what they counted of their routes, and for how long it counts. */
export const routeHealthMs = 10_000;
export const routeHealthWindowMs = 86_400_000;
/** How quickly a route writes is the mean over its last answers, so much of their time or more. */
export const routeSpeedWindowMs = 600_000;
/** Shorter answers tell nothing of it. */
export const routeSpeedTokensMin = 100;
/** Of a route that may hide what it writes, until an answer of it was measured. */
export const presumedTokensPerSecond = 100;
/** A route that counted more than was reserved comes after all others for so long. */
export const routeCoolDownMs = 60_000;
/** A connection to a provider that has carried nothing for longer is closed when the next call would take it. */
export const idleConnectionMsMax = 50_000;
/** A kept connection that is closed so soon after a request was sent over it, without an answer, counts as closed before it. */
export const staleConnectionMsMax = 100;
export const idleConnectionsPerOrigin = 256;
export const upstreamHeadBytesMax = 64 * 1024;
/** What may wait in here of an answer that nobody reads: more is left to the network, which slows its sender down. */
export const upstreamReadAheadBytesMax = 64 * 1024;
/** Of calls of tools in a stream whose name has not come yet; without it a client can make nothing of them. */
export const heldToolCallCharactersMax = 64 * 1024;
export const upstreamErrorBytesMax = 64 * 1024;
export const upstreamEventBytesMax = 4 * 1024 * 1024;
/** After the last event: how long and how far a body may go on before its connection is given up. */
export const streamTailMs = 1_000;
export const streamTailBytesMax = 64 * 1024;

// Stored prompts and the keys that they are sealed with
/** UTF-16 units of an answer's texts; an answer that is longer is kept up to here. */
export const storedAnswerCharactersMax = 1_048_576;
/** Prompts that do not fit are dropped and counted: no answer waits for its prompt to be stored. */
export const promptsWaitingMax = 1_000;
export const promptBytesWaitingMax = 32 * 1024 * 1024;
export const promptBatchMax = 64;
export const promptBatchBytesMax = 1024 * 1024;
export const promptWriteAttemptsMax = 5;
export const promptWriteRetryMs = 1_000;
export const promptDeleteBatchMax = 5_000;
export const dataKeysCachedMax = 10_000;

// Launch checks
export const launchCheckMsMax = 60_000;
export const launchChecksAtOnce = 8;
/** How long `model check` waits without hearing of any check before it takes the prober for dead. */
export const launchChecksSilenceMsMax = 90_000;
export const launchChecksWaitMs = 200;

// Control API
export const ledgerStatementMsMax = 600_000;

// Quotas: bodies and open answers
export const bodiesBytesMax = 640 * 1024 * 1024;
export const bodiesPerWorkspaceBytesMax = 256 * 1024 * 1024;
export const bodiesPerKeyBytesMax = 192 * 1024 * 1024;
/** Of all, what only bodies of at most `bodySmallBytes` may take. */
export const bodiesReserveBytes = 64 * 1024 * 1024;
export const bodySmallBytes = 64 * 1024;
export const openAnswersMax = 20_000;
export const openAnswersPerWorkspaceMax = 8_000;
export const openAnswersPerKeyMax = 4_000;
export const openAnswersRetryMs = 1_000;
