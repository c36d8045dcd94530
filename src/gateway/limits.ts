/**
 * Limits of the inference gateway: every bound of the wing with its unit, by the part that keeps it. Limits of blocks and key records are
 * in admission/limits.ts, those of card top-up and of stored prompts in their folders.
 */
// From the specification
/** A request's body; beyond it 413 `request_too_large`. */
export const bodyBytesMax = 8 * 1024 * 1024;
/** Messages of a chat, and tool calls of one streamed answer; beyond it 400, or a failure of the provider. */
export const messagesMax = 2_000;
/** `temperature`; beyond it 400. */
export const temperatureMax = 2;
/** How old a key's record may be when a decision uses it: changed settings and revocations apply within this time. */
export const keyRecordAgeMsMax = 30_000;
/** `Retry-After` of `upstream_rate_limited`. */
export const upstreamRetryAfterSeconds = 5;

// Bodies
/** A model's id in a request; beyond it 400. */
export const modelIdCharactersMax = 256;
/** `max_tokens` of a completion that has none, as in the official schema. */
export const completionTokensDefault = 16;
/** Claude's thoughts within the id of one tool call: their signatures and encrypted texts; with more, the id carries none. */
export const thoughtsCharactersMax = 64 * 1024;
/** The signature of one of Claude's thoughts, which may be long where it holds the thought; of a longer one none is kept. */
export const sealCharactersMax = 1024 * 1024;

// Counts of tokens
/** Counts of a key in any 60 seconds at one gateway; beyond it 429. */
export const tokenCountsPerMinuteMax = 600;
/** Counts of a key that run at once; the next ones wait. */
export const tokenCountsPerKeyMax = 8;
/** Counts of a key that wait; beyond it 429. Agents ask for dozens at once. */
export const tokenCountsWaitingPerKeyMax = 56;
/** Counts of a workspace, and of a gateway, that run at once. */
export const tokenCountsPerWorkspaceMax = 32;
export const tokenCountsMax = 256;
/** Counts of a gateway that wait, and for how long; then 429. */
export const tokenCountsWaitingMax = 2_048;
export const tokenCountsWaitMs = 10_000;
/** How long a provider may take for a count; then the gateway's estimate is the answer. */
export const tokenCountMsMax = 5_000;

// Embeddings
/** Inputs of a request, and token ids of a flat array; beyond it 400. */
export const embeddingInputsMax = 2_048;
/** Token ids of a request in all; beyond it 400. */
export const embeddingTokensMax = 300_000;
/** JSON values of a body, above those of other bodies: each token id of a full batch is one. */
export const embeddingValuesMax = 310_000;
/** 2,048 vectors of 3,072 numbers in base64 are 33.6 MB. */
export const embeddingAnswerBytesMax = 40 * 1024 * 1024;
/** An answer is written in pieces of about this size, each when the client has room for it. */
export const embeddingPieceBytes = 256 * 1024;

// Routing
/** Items of `models`; beyond it 400. */
export const routingModelsMax = 8;
/** Items of `provider.order`, `.only` and `.ignore`; beyond it 400. */
export const routingProvidersMax = 64;
/** Candidates of one request; further ones are not used. */
export const routingCandidatesMax = 16;
/** Bytes of the candidates' names in a request to admission. Without own keys it stays below 1 KiB. */
export const routingCandidatesBytesMax = 512;

// Admission
/** How long a wrong key is remembered as wrong. */
export const unknownKeyAgeMsMax = 5_000;
/** Requests in one message to a worker. */
export const admissionBatchMax = 128;
/** Size of such a message; one request takes less than 4 KiB, even with 16 own keys. */
export const admissionBatchBytesMax = 64 * 1024;
/** How long a request waits for counters that are being loaded; then 503 `billing_unavailable`. */
export const rebuildWaitMs = 1_000;
/** How long a rebuild waits for the gateways' reports. */
export const rebuildReportMs = 300;
/** How long a refusal waits for gateways to return blocks. */
export const blockRecallMs = 300;

// Metering
/** Settlements in one event. */
export const settlementBatchMax = 400;
/** Pause between a gateway's publications of settlements, unless a batch is full. Settlements of that time are sent together. */
export const settlementPauseMs = 50;
/** Size of such an event. */
export const settlementBatchBytesMax = 256 * 1024;
/** Settlements in one transaction of the ledger. */
export const settlementTransactionMax = 4_000;
/** The least time between the starts of two deliveries to metering; it grows with how long one takes, so transactions are large under load. */
export const settlementPaceMs = 100;
/** The longest such time, as it grows. After a full delivery there is no pause. */
export const settlementPaceMsMax = 500;
/** The most events that it takes at once. */
export const settlementEventsMax = 64;
/** Models that metrics name; charges for further ones count as "other". */
export const modelLabelsMax = 1_000;
/** A gateway with this many generations without a confirmed charge admits no more. */
export const unsettledMax = 200_000;
/** Lag of the ledger above which no workspace is admitted. */
export const meteringLagMsMax = 300_000;

// Streams
/** A stream that is quiet for this long gets a comment. */
export const streamCommentMs = 15_000;
/** After this silence of its provider a stream starts with a comment, and later failures are sent as events. */
export const firstEventMsMax = 15_000;
/** A client that reads nothing for this long while data waits for it counts as disconnected. */
export const streamStallMsMax = 60_000;
/** After its client has disconnected, a stream is read for at most this long; without a slot, only for its last events and its usage. */
export const drainMsMax = 60_000;
/** How long any other stream is read on, in case the provider's count is about to arrive. */
export const lastEventsMsMax = 3_000;
/** Further tokens that such a stream may write meanwhile. */
export const lastTokensMax = 32;
/** Streams that a gateway reads on at once in this way. */
export const drainsMax = 1_024;
/** Such streams of one workspace. */
export const drainsPerWorkspaceMax = 16;
/** A provider's whole answer. */
export const upstreamAnswerBytesMax = 32 * 1024 * 1024;
/** Output tokens of a launch check. */
export const probeOutputTokensMax = 16;

// Caches and waits of admission
/** Key records that a process remembers. */
export const recordsCachedMax = 100_000;
/** Wrong keys that a process remembers. */
export const unknownKeysCachedMax = 10_000;
/** Timeout of one look-up of key records. */
export const recordLookupMs = 1_000;
/** How often the ledger of a used workspace is compared with its counters, since the database may have been restored. */
export const ledgerCheckMs = 30_000;
/** How long such comparisons are gathered, so that one statement serves many workspaces. */
export const ledgerCheckBatchMs = 250;
/** How often admission asks which server keeps the ledger; at twice this age a request waits for the answer. */
export const ledgerServerMs = 100;
/** While the database hangs, requests with known keys continue after this wait. */
export const ledgerServerAnswerMs = 1_000;
/** How often metering checks whether settlements have to be booked again. */
export const ledgerReplayMs = 1_000;
/** What a server stored this long before it was last seen is booked again on the next one, since a standby may have lagged behind. */
export const ledgerReplayLagMs = 300_000;
/** A key record used at this age is read again in the background. */
export const readAheadAgeMs = 20_000;
/** How long such reads are gathered for one statement. */
export const readAheadPauseMs = 50;
/** How long a message may wait for counters that are being loaded before the worker replies "again". */
export const loadDeadlineMs = 40;
/** How long a gateway then waits before it asks again. */
export const admissionRetryMs = 20;
/** How old a reading of the counters' clock may be. */
export const countersTimeAgeMsMax = 1_000;
/** Admission requests that wait in a gateway; beyond it 503. */
export const admissionRequestsWaitingMax = 20_000;
/** Admissions that a gateway still has to release. */
export const releasesWaitingMax = 100_000;
/** Pause between attempts to release them. */
export const releaseRetryMs = 500;
/** How often the lag of the ledger is read. */
export const backlogPollMs = 5_000;

// The spool and the settlement publisher
/** A file of the spool. */
export const spoolSegmentBytesMax = 1024 * 1024;
/** How often the progress of open generations is written to the spool. */
export const progressMs = 900;
/** How soon unchanged progress is written again. */
export const progressRefreshMs = 30_000;
/** Events under way from a spool to the bus. */
export const publishesInFlightMax = 4;
/** Timeout of one attempt to store an event. */
export const publishDeadlineMs = 10_000;
/** Doubles with each attempt. */
export const publishRetryMs = 50;
/** Longest pause between attempts. */
export const publishRetryMsMax = 5_000;
/** An event without confirmation for this long is published again. */
export const confirmationMs = 10_000;
/** Longest such wait, as it grows. */
export const confirmationMsMax = 300_000;
/** How often a gateway looks for the spools of dead ones. */
export const orphanScanMs = 10_000;
/** How long an adopted spool may take to reach the ledger. */
export const adoptionFlushMs = 30_000;
/** How often confirmed generations are forgotten. */
export const pruneMs = 15_000;

// The log
/** How far the time in an id may be from the admission, which another clock gives, so that filters by time find the row. */
export const logSkewMs = 600_000;
/** The most rows that a search by outcome reads, since no index has outcomes. */
export const logSearchRowsMax = 3_000;
/** The most reads of such a search. */
export const logSearchReadsMax = 16;
/** The most rows of one such read. */
export const logSearchReadRowsMax = 1_000;

// Retention of the log
/** The current month and the one before may still get late charges. */
export const retainMonthsMin = 2;
/** The most months that may be kept. */
export const retainMonthsMax = 1_200;
/** Timeout of a retention statement. */
export const retainStatementMsMax = 600_000;
/** How long `log retain` waits for a month before it tries again. */
export const retainLockMs = 500;
/** Pause before it tries again. */
export const retainRetryMs = 1_000;
/** How often it tries. */
export const retainAttemptsMax = 10;
/** A settlement whose id is further from its admission is not booked: the id decides in which month its row lies. */
export const idSkewMsMax = 400 * 86_400_000;

/** Spent claims that a worker remembers, and for how long: a client that repeats one asks the ledger once in that time. */
export const spentClaimsKnownMax = 10_000;
export const spentClaimKnownMs = 60_000;
/** How often a worker looks for new idempotency keys of one API key in a minute: at least, and by its requests per minute. */
export const claimLooksMin = 60;
export const claimLooksPerRequest = 2;
/** For this long a request with the same idempotency key is not charged again. */
export const idempotencyMs = 86_400_000;
/** `retry-after` of a repeated request while the first one runs. */
export const idempotencyRetryMs = 1_000;
/** An Idempotency-Key has at most so many characters. */
export const idempotencyKeyCharactersMax = 255;

// Usage
/** How often generations are rolled up. */
export const usageRollUpMs = 60_000;
/** Younger generations are read as they are: most have ended and are settled when they are rolled up. */
export const usageOpenMs = 60_000;
/** Generations that one step rolls up, while the embedded database does nothing else. */
export const usageRollUpRowsMax = 20_000;
/** Pause between two such transactions. */
export const usageRollUpPauseMs = 50;
/** Generations that began within this time are rolled up in one step, however many there are. */
export const usageShortSpanMs = 90_000;
/** Timeout of a roll-up statement. */
export const usageRollUpStatementMsMax = 60_000;
/** How long settlements may wait for a step to begin. */
export const usageClosingLockMs = 1_000;
/** The most days that one usage query sums. */
export const usageDaysMax = 400;
/** The most days that may be asked for by the hour. */
export const usageHourDaysMax = 31;
/** Days that it sums if it gives no beginning. */
export const usageDaysDefault = 30;
/** Rows of its answer if it gives no `limit`; further ones are summed in one. */
export const usageRowsDefault = 1_000;
/** Highest `limit`. */
export const usageRowsMax = 10_000;
/** Names that are listed by period where the others are not. */
export const usageSeriesMax = 100;
/** Names of a chart with their own values if it gives no `series`. */
export const chartSeriesDefault = 6;
/** The most series that are read one by one; beyond it, reading the whole workspace is faster. */
export const seriesLookedUpMax = 32;
/** Timeout of its statement. */
export const usageStatementMsMax = 8_000;
/** Working memory of such a statement (PostgreSQL's `work_mem`): enough for the groups of a month. */
export const usageWorkMemoryBytes = 16 * 1024 * 1024;
/** Usage queries of key holders that a gateway runs at once. */
export const keyUsageReadsMax = 4;
/** The same, per key. */
export const keyUsageReadsPerKeyMax = 1;
/** Usage queries that wait; further ones get 503 `billing_unavailable`. */
export const keyUsageWaitingMax = 256;
/** The same, per key. */
export const keyUsageWaitingPerKeyMax = 4;
/** How long such a query waits. */
export const keyUsageWaitMs = 5_000;

// Statements
/** How often metering looks for months to close. */
export const statementCheckMs = 60_000;
/** How long after the end of a month its statement closes at the earliest: a hold lives for twenty minutes. */
export const statementWaitMs = 1_500_000;
/** More waiting messages than this count as metering's lag, and no month closes: one delivery takes as many. */
export const statementBacklogMax = 64;
/** The most lines of a statement; the cheapest rest is summed in one line. */
export const statementLinesMax = 10_000;
/** The most credits and the most refunds of a statement; the rest are summed in one line. */
export const statementMovementsMax = 1_000;
/** Timeout of a database statement while it closes. */
export const statementCloseMsMax = 600_000;
/** Timeout of summing an open statement, which is done on request. */
export const statementReadMsMax = 8_000;
/** Closed statements in a list without `limit`. */
export const statementRowsDefault = 24;
/** Highest `limit`. */
export const statementRowsMax = 120;
/** Workspaces whose statements a closing reads at once, and that `statement close` names. */
export const statementsDueMax = 200;
/** How long `statement close` waits for metering. */
export const statementCloseWaitMs = 8_000;
/** How often it polls meanwhile. */
export const statementClosePollMs = 200;

// Metering and shutdown
/** How often expired reservations are looked for. */
export const sweepMs = 10_000;
/** Reservations expired at once. */
export const sweepBatchMax = 200;
/** How often the counters are compared with the ledger. */
export const reconcileMs = 60_000;
/** Pause of the prober between its rounds. */
export const proberPauseMs = 5_000;
/** How often it checks whether answers that began before have ended. */
export const inFlightPollMs = 50;

// Models and providers
/** Well within the 30 s in which a changed catalog must apply. */
export const catalogPollMs = 5_000;
/** How often the launch checks are read. */
export const launchChecksPollMs = 10_000;
/** Timeout of one such read. */
export const launchChecksReadMs = 2_000;
/** Pause before they are read again when the database did not answer. */
export const launchChecksRetryMs = 500;
/** The prompt that a provider is assumed to add itself. */
export const hiddenInputTokensDefault = 64;
/** The same where tools are sent. */
export const hiddenInputTokensWithTools = 1_024;
/** Tokens reserved for a message in addition to its text. */
export const inputTokensPerMessage = 16;
/** The least output to ask for if the client sets no bound and the prompt seems to fill the context; a sixteenth of a small context. */
export const outputTokensMin = 1_024;
/** How often gateways share their counts of routes. */
export const routeHealthMs = 10_000;
/** How long a count is included in latency and uptime. */
export const routeHealthWindowMs = 86_400_000;
/** A route's speed is the mean over the last answers that took at least this long together. */
export const routeSpeedWindowMs = 600_000;
/** Answers with fewer tokens do not count for the speed. */
export const routeSpeedTokensMin = 100;
/** The assumed speed of a route that may hide tokens, until one of its answers is measured. */
export const presumedTokensPerSecond = 100;
/** How long other routes are preferred to a route that cost more than its reservation. */
export const routeCoolDownMs = 60_000;
/** A connection to a provider that was idle for longer is closed instead of reused by the next call. */
export const idleConnectionMsMax = 50_000;
/** A reused connection that closes without an answer this soon after a request counts as closed before the request. */
export const staleConnectionMsMax = 100;
/** Such connections that are kept, by host and port. */
export const idleConnectionsPerOrigin = 256;
/** The most bytes of an answer's head. */
export const upstreamHeadBytesMax = 64 * 1024;
/** Buffer for an answer that is not read. Above it the gateway stops reading, so the network slows the sender down. */
export const upstreamReadAheadBytesMax = 64 * 1024;
/** Buffer for a stream's tool calls until their names arrive: clients cannot use a tool call without a name. */
export const heldToolCallCharactersMax = 64 * 1024;
/** OpenAI's encrypted reasoning within the id of one tool call, which clients send back twice; longer reasoning is left out. */
export const reasoningCharactersMax = 32 * 1024;
/** How much of a provider's error is read. */
export const upstreamErrorBytesMax = 64 * 1024;
/** One event of a provider's stream, or the list in place of its events. */
export const upstreamEventBytesMax = 4 * 1024 * 1024;
/** How long to wait for the usage of a finished stream that its provider leaves open. */
export const finishGraceMs = 5_000;
/** The same if the answer calls tools: some providers send a finish reason after each call, and take time to write the next one. */
export const callGraceMs = 30_000;
/** How long a body may continue after the last event, or after the usage of a finished answer, before its connection is closed. */
export const streamTailMs = 1_000;
/** How many bytes may follow meanwhile. */
export const streamTailBytesMax = 64 * 1024;

// Own provider keys
/** The fewest characters of a key. */
export const ownKeyCharactersMin = 8;
/** The most characters of a key. */
export const ownKeyCharactersMax = 512;
/** A shorter key is shown without its last four characters. */
export const ownKeyShownCharactersMin = 20;
/** They travel with each record of the workspace's API keys. */
export const ownKeysPerWorkspaceMax = 16;
/** Own keys in a reply of a worker, which carries the records of many API keys. NATS takes a message of 1 MiB by default. */
export const ownKeyReplyBytesMax = 512 * 1024;
/** Own keys that a list over all workspaces shows. */
export const ownKeysListedMax = 10_000;
/** Keys that a gateway keeps in the clear at once, each for at most as long as a record. */
export const openedOwnKeysMax = 10_000;
/** How often a gateway stores when an own key was last used. */
export const ownKeyUseMs = 60_000;
/** Timeout of storing that, or a change of its state. */
export const ownKeyReportMs = 5_000;
/** The least time between two changes of an own key's state by one gateway. */
export const ownKeyStatePauseMs = 1_000;
/** The least time between two reports by one gateway of how a provider takes the service's key. */
export const serviceKeyReportPauseMs = 60_000;
/** The least time between two mails about the refusal of one key. */
export const ownKeyMailPauseMs = 86_400_000;

// Launch checks
/** Timeout of one test call. */
export const launchCheckMsMax = 60_000;
/** Timeout of one request for a provider's list of models, with which a key is tried. */
export const keyTrialMs = 10_000;
/** Longer than any provider's list of models. */
export const modelListBytesMax = 16 * 1024 * 1024;
/** Test calls under way. */
export const launchChecksAtOnce = 8;
/** How long `model check` waits without the end of any check before it reports that no prober runs. */
export const launchChecksSilenceMsMax = 90_000;
/** How often it polls. */
export const launchChecksWaitMs = 200;

// Work that times out
/** What a workspace's timed-out requests may cost its providers in an hour without being charged, in each process. */
export const unpaidNanoMax = 50_000_000n;
/** The sliding window that counts as that hour. */
export const unpaidWindowMs = 3_600_000;
/** Work that ends within this time is remembered as one entry. */
export const unpaidSpanMs = 60_000;
/** Workspaces whose unpaid work a process remembers, the most recent ones. */
export const unpaidWorkspacesMax = 10_000;

// Sandbox
/**
 * The steps spent on one schema: one for each of its parts, each value compared with it, each 256 characters read and each character of the
 * answer.
 */
export const sandboxSchemaStepsMax = 10_000;

// Control API
/** Timeout of one statement of `ledger verify`. */
export const ledgerStatementMsMax = 600_000;

// Quotas: bodies and open answers
/** Bodies that a gateway holds. */
export const bodiesBytesMax = 640 * 1024 * 1024;
/** The same, per workspace. */
export const bodiesPerWorkspaceBytesMax = 256 * 1024 * 1024;
/** The same, per key: 24 of the largest. */
export const bodiesPerKeyBytesMax = 192 * 1024 * 1024;
/** The part of the total that is reserved for bodies of at most `bodySmallBytes`. */
export const bodiesReserveBytes = 64 * 1024 * 1024;
/** The largest small body. */
export const bodySmallBytes = 64 * 1024;
/** Prompts that open streams keep in memory because their provider may not count them. A workspace and a key may have half of it. */
export const uncountedPromptsBytesMax = 64 * 1024 * 1024;
/** Bytes of such prompts that are counted for the journal in a second, which takes a hundredth of a core. */
export const countedForJournalBytesMax = 4 * 1024 * 1024;
/** Open answers of a gateway, mostly streams. */
export const openAnswersMax = 20_000;
/** The same, per workspace. */
export const openAnswersPerWorkspaceMax = 8_000;
/** The same, per key. */
export const openAnswersPerKeyMax = 4_000;
/** `Retry-After` where too many are open. */
export const openAnswersRetryMs = 1_000;
