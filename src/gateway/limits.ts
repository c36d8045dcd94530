/** Limits of the inference gateway. Each value has a row in docs/internals/limits.md. */

// From the specification
export const bodyBytesMax = 8 * 1024 * 1024;
export const messagesMax = 2_000;
export const temperatureMax = 2;
export const keyRecordAgeMsMax = 30_000;
export const upstreamRetryAfterSeconds = 5;

// Bodies
export const modelIdCharactersMax = 256;
/** `max_tokens` of a completion that has none, as in the official schema. */
export const completionTokensDefault = 16;
/** Claude's thoughts within the id of one tool call: their signatures and encrypted texts; with more, the id carries none. */
export const thoughtsCharactersMax = 64 * 1024;

// Embeddings
export const embeddingInputsMax = 2_048;
export const embeddingTokensMax = 300_000;
/** JSON values of a body, above those of other bodies: each token id of a full batch is one. */
export const embeddingValuesMax = 310_000;
/** 2,048 vectors of 3,072 numbers in base64 are 33.6 MB. */
export const embeddingAnswerBytesMax = 40 * 1024 * 1024;
/** An answer is written in pieces of about this size, each when the client has room for it. */
export const embeddingPieceBytes = 256 * 1024;

// Routing
export const routingModelsMax = 8;
export const routingProvidersMax = 64;
/** Candidates of one request; further ones are not used. */
export const routingCandidatesMax = 16;
/** Bytes of the candidates' names in a request to admission. Without own keys it stays below 1 KiB. */
export const routingCandidatesBytesMax = 512;

// Admission
export const unknownKeyAgeMsMax = 5_000;
export const admissionBatchMax = 128;
export const admissionBatchBytesMax = 64 * 1024;
export const rebuildWaitMs = 1_000;
export const rebuildReportMs = 300;
export const blockRecallMs = 300;

// Metering
export const settlementBatchMax = 400;
/** Pause between a gateway's publications of settlements, unless a batch is full. Settlements of that time are sent together. */
export const settlementPauseMs = 50;
export const settlementBatchBytesMax = 256 * 1024;
export const settlementTransactionMax = 4_000;
/** Between the starts of two of metering's deliveries: the longer the first took, the longer, which makes transactions large under load. */
export const settlementPaceMs = 100;
export const settlementPaceMsMax = 500;
export const settlementEventsMax = 64;
/** Models that metrics name; what is charged for further ones is counted as "other". */
export const modelLabelsMax = 1_000;
/** A gateway with so many generations without a confirmed charge admits no more. */
export const unsettledMax = 200_000;
export const meteringLagMsMax = 300_000;

// Streams
/** How late a timeout of a provider call or stream may fire. */
export const timerStepMs = 500;
export const streamCommentMs = 15_000;
/** After this silence of its provider a stream starts with a comment, and later failures are sent as events. */
export const firstEventMsMax = 15_000;
/** A client that reads nothing for this long while data waits for it counts as disconnected. */
export const streamStallMsMax = 60_000;
/** After its client has disconnected, a stream is read for at most this long; without a slot only for its last words and its usage. */
export const drainMsMax = 60_000;
export const lastEventsMsMax = 3_000;
export const lastTokensMax = 32;
export const drainsMax = 1_024;
export const drainsPerWorkspaceMax = 16;
export const upstreamAnswerBytesMax = 32 * 1024 * 1024;
export const probeOutputTokensMax = 16;

// Caches and waits of admission
export const recordsCachedMax = 100_000;
export const unknownKeysCachedMax = 10_000;
export const recordLookupMs = 1_000;
/** How often the ledger of a used workspace is compared with its counters, since the database may have been restored. */
export const ledgerCheckMs = 30_000;
export const ledgerCheckBatchMs = 250;
/** How often admission asks which server keeps the ledger; at twice this age a request waits for the answer. */
export const ledgerServerMs = 100;
/** While the database hangs, requests with known keys go on after this wait. */
export const ledgerServerAnswerMs = 1_000;
/** How often metering looks whether settlements have to be booked again. */
export const ledgerReplayMs = 1_000;
/** What was stored for so long before a server was last seen is booked again on the next one: a standby may have lagged behind. */
export const ledgerReplayLagMs = 300_000;
/** A key record that is used at this age is read again in the background. */
export const readAheadAgeMs = 20_000;
export const readAheadPauseMs = 50;
/** How long a message may wait for counters that are being loaded before the worker replies "again". */
export const loadDeadlineMs = 40;
export const admissionRetryMs = 20;
export const countersTimeAgeMsMax = 1_000;
export const admissionRequestsWaitingMax = 20_000;
export const releasesWaitingMax = 100_000;
export const releaseRetryMs = 500;
export const backlogPollMs = 5_000;

// The spool and the settlement publisher
export const spoolSegmentBytesMax = 1024 * 1024;
/** How often the progress of open generations is written to the spool, and after how long unchanged progress is written again. */
export const progressMs = 900;
export const progressRefreshMs = 30_000;
export const publishesInFlightMax = 4;
export const publishDeadlineMs = 10_000;
/** Doubles with each attempt. */
export const publishRetryMs = 50;
export const publishRetryMsMax = 5_000;
export const confirmationMs = 10_000;
export const confirmationMsMax = 300_000;
export const orphanScanMs = 10_000;
export const adoptionFlushMs = 30_000;
export const pruneMs = 15_000;

// The move of generations from the tables of the version before
/** Charges in one transaction. Each looks through the ledger once. */
export const moveBatchMax = 250_000;
/** The embedded database does nothing else meanwhile. */
export const embeddedMoveBatchMax = 20_000;
export const movePauseMs = 100;
export const moveRetryMs = 1_000;
export const moveStatementMsMax = 600_000;
export const moveLockMs = 2_000;
export const moveFinishAttemptsMax = 10;

// The log
/** How far the time in an id may be from the admission, which another clock tells, for filters by time to find the row. */
export const logSkewMs = 600_000;
/** A search by outcome, which no index has, reads so many rows at most, in so many reads of so many rows. */
export const logSearchRowsMax = 3_000;
export const logSearchReadsMax = 16;
export const logSearchReadRowsMax = 1_000;

// Retention of the log
/** The current month and the one before may still get late charges. */
export const retainMonthsMin = 2;
export const retainMonthsMax = 1_200;
export const retainStatementMsMax = 600_000;
export const retainLockMs = 500;
export const retainRetryMs = 1_000;
export const retainAttemptsMax = 10;
/** A settlement whose id is further from its admission is not booked: the id decides in which month its row lies. */
export const idSkewMsMax = 400 * 86_400_000;

// Usage
/** How often generations are rolled up. */
export const usageRollUpMs = 60_000;
/** Younger generations are read as they are: most have ended and are settled when they are rolled up. */
export const usageOpenMs = 60_000;
/** Generations that one step rolls up, while the embedded database does nothing else, and the pause after it. */
export const usageRollUpRowsMax = 20_000;
export const usageRollUpPauseMs = 50;
/** What began within so long is rolled up in one step, however many they are. */
export const usageShortSpanMs = 90_000;
export const usageRollUpStatementMsMax = 60_000;
/** How long settlements may wait for a step to begin. */
export const usageClosingLockMs = 1_000;
export const usageDaysMax = 400;
/** Days whose single hours may be asked for. */
export const usageHourDaysMax = 31;
export const usageDaysDefault = 30;
export const usageRowsDefault = 1_000;
export const usageRowsMax = 10_000;
/** Names that are listed by period where the others are not. */
export const usageSeriesMax = 100;
/** Series that are read one by one; of more, a read of all of the workspace is faster. */
export const seriesLookedUpMax = 32;
export const usageStatementMsMax = 8_000;
/** Of a question to the database, in PostgreSQL's words: enough for the groups of a month. */
export const usageWorkMemoryBytes = 16 * 1024 * 1024;
/** Questions of key holders that a gateway asks the database at once, and of one key. */
export const keyUsageReadsMax = 4;
export const keyUsageReadsPerKeyMax = 1;
export const keyUsageWaitingMax = 256;
export const keyUsageWaitingPerKeyMax = 4;
export const keyUsageWaitMs = 5_000;

// Statements
/** How often metering looks for months to close. */
export const statementCheckMs = 60_000;
/** After the end of a month, its statement closes at the earliest: a hold lives for twenty minutes. */
export const statementWaitMs = 1_500_000;
/** Waiting settlements of a month are closed over: what one delivery of metering takes is no lag. */
export const statementBacklogMax = 64;
/** Lines of a statement; the cheapest beyond are summed in one. */
export const statementLinesMax = 10_000;
/** Credits of a statement, and refunds; those beyond are summed in one. */
export const statementMovementsMax = 1_000;
export const statementCloseMsMax = 600_000;
/** A statement that is open is summed when it is asked for. */
export const statementReadMsMax = 8_000;
export const statementRowsDefault = 24;
export const statementRowsMax = 120;
export const statementsDueMax = 200;
/** How long `statement close` waits for metering. */
export const statementCloseWaitMs = 8_000;
export const statementClosePollMs = 200;

// Metering and shutdown
export const sweepMs = 10_000;
export const sweepBatchMax = 200;
export const reconcileMs = 60_000;
export const proberPauseMs = 5_000;
export const inFlightPollMs = 50;

// Models and providers
/** Well within the 30 s in which a changed catalog must apply. */
export const catalogPollMs = 5_000;
export const launchChecksPollMs = 10_000;
export const launchChecksReadMs = 2_000;
export const launchChecksRetryMs = 500;
export const hiddenInputTokensDefault = 64;
export const hiddenInputTokensWithTools = 1_024;
export const inputTokensPerMessage = 16;
/** The least output to ask for if the client sets no bound and the prompt seems to fill the context; a sixteenth of a small context. */
export const outputTokensMin = 1_024;
/** How often gateways share their counts of routes, and how long a count is included. */
export const routeHealthMs = 10_000;
export const routeHealthWindowMs = 86_400_000;
/** A route's speed is the mean over the last answers that took at least this long together. */
export const routeSpeedWindowMs = 600_000;
/** Answers with fewer tokens do not count for the speed. */
export const routeSpeedTokensMin = 100;
/** The assumed speed of a route that may hide tokens, until an answer of it was measured. */
export const presumedTokensPerSecond = 100;
/** How long other routes are preferred to a route that cost more than its reservation. */
export const routeCoolDownMs = 60_000;
/** A connection to a provider that was idle for longer is closed instead of reused by the next call. */
export const idleConnectionMsMax = 50_000;
/** A reused connection that closes without an answer this soon after a request counts as closed before the request. */
export const staleConnectionMsMax = 100;
export const idleConnectionsPerOrigin = 256;
export const upstreamHeadBytesMax = 64 * 1024;
/** Buffer for an answer that is not read. Above it the gateway stops reading, so the network slows the sender down. */
export const upstreamReadAheadBytesMax = 64 * 1024;
/** Buffer for a stream's tool calls until their names arrive: clients cannot use a tool call without a name. */
export const heldToolCallCharactersMax = 64 * 1024;
/** OpenAI's encrypted reasoning within the id of one tool call, which clients send back twice; longer reasoning is left out. */
export const reasoningCharactersMax = 32 * 1024;
export const upstreamErrorBytesMax = 64 * 1024;
export const upstreamEventBytesMax = 4 * 1024 * 1024;
/** How long to wait for the usage of a finished stream that its provider leaves open. */
export const finishGraceMs = 5_000;
/** The same if the answer calls tools: some providers send a finish reason after each call, and take time to write the next one. */
export const callGraceMs = 30_000;
/** How long and how far a body may continue after the last event, or after the usage of a finished answer, before its connection is closed. */
export const streamTailMs = 1_000;
export const streamTailBytesMax = 64 * 1024;

// Own provider keys
export const ownKeyCharactersMin = 8;
export const ownKeyCharactersMax = 512;
/** A shorter key is shown without its last four characters. */
export const ownKeyShownCharactersMin = 20;
/** They travel with each record of the workspace's API keys. */
export const ownKeysPerWorkspaceMax = 16;
/** Own keys in a reply of a worker, which carries the records of many API keys. NATS takes a message of 1 MiB by default. */
export const ownKeyReplyBytesMax = 512 * 1024;
export const ownKeysListedMax = 10_000;
/** Keys that a gateway keeps in the clear at once, each for at most as long as a record. */
export const openedOwnKeysMax = 10_000;
/** How often a gateway stores when an own key was last used, and how long that may take. */
export const ownKeyUseMs = 60_000;
export const ownKeyReportMs = 5_000;
/** Between changes of an own key's state by one gateway, and between mails about its refusal. */
export const ownKeyStatePauseMs = 1_000;
export const ownKeyMailPauseMs = 86_400_000;

// Launch checks
export const launchCheckMsMax = 60_000;
export const launchChecksAtOnce = 8;
/** How long `model check` waits without the end of any check before it reports that no prober runs. */
export const launchChecksSilenceMsMax = 90_000;
export const launchChecksWaitMs = 200;

// Work that times out
/** What a workspace's timed-out requests may cost its providers in an hour without being charged, in each process. */
export const unpaidNanoMax = 50_000_000n;
export const unpaidWindowMs = 3_600_000;
/** Work within so long is remembered as one. */
export const unpaidSpanMs = 60_000;
/** Workspaces whose unpaid work a process remembers: those with the newest. */
export const unpaidWorkspacesMax = 10_000;

// Sandbox
/** Work for one schema: its parts, the values that are compared with it, 256 characters that are read, characters of the answer. */
export const sandboxSchemaStepsMax = 10_000;

// Control API
export const ledgerStatementMsMax = 600_000;

// Quotas: bodies and open answers
export const bodiesBytesMax = 640 * 1024 * 1024;
export const bodiesPerWorkspaceBytesMax = 256 * 1024 * 1024;
export const bodiesPerKeyBytesMax = 192 * 1024 * 1024;
/** The part of the total that is reserved for bodies of at most `bodySmallBytes`. */
export const bodiesReserveBytes = 64 * 1024 * 1024;
export const bodySmallBytes = 64 * 1024;
export const openAnswersMax = 20_000;
export const openAnswersPerWorkspaceMax = 8_000;
export const openAnswersPerKeyMax = 4_000;
export const openAnswersRetryMs = 1_000;
