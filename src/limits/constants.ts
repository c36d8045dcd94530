/** Every number of the specification and every bound of ours, once, with its unit last. Compared with docs/limits.md by a test. */

// The specification's
export const requestsPerMinuteDefault = 60;
export const requestsPerMinuteMin = 1;
export const requestsPerMinuteMax = 10_000;
export const rateWindowMs = 60_000;
export const bodyBytesMax = 8 * 1024 * 1024;
export const messagesMax = 2_000;
export const temperatureMax = 2;
export const streamDurationMsDefault = 900_000;
export const keyRecordAgeMsMax = 30_000;
export const upstreamRetryAfterSeconds = 5;

// Ours: bodies
export const serverBodyBytesMax = 64 * 1024 * 1024;
export const controlBodyBytesMax = 1024 * 1024;
export const jsonDepthMax = 64;
export const jsonValuesMax = 200_000;
export const operatorTokenCharactersMin = 32;
/** What one address may send at once, and again each second, before none of its tokens is looked at. */
export const wrongTokensMax = 3_000;
export const wrongTokensPerSecond = 10;
export const wrongTokenAddressesMax = 10_000;
/** Of one object: many make it slow to parse, to look through and to write again. */
export const jsonFieldsMax = 5_000;
/** Of a call of the tools API or the control API, which have a few fields. */
export const callJsonValuesMax = 10_000;
/** A refused body is read on for this long where the answer would be lost otherwise. */
export const refusedBodyMsMax = 5_000;
/** A body of this declared length is left to the server, which reads it after the answer. */
export const refusedBodySmallBytes = 1024 * 1024;
/** A sender that sends nothing for so long has its answer, if it does not ask to be closed. */
export const refusedBodyIdleMs = 1_000;
export const modelIdCharactersMax = 256;

// Ours: admission
export const unknownKeyAgeMsMax = 5_000;
export const admissionBatchMax = 128;
export const admissionBatchBytesMax = 64 * 1024;
export const admissionDeadlineMs = 2_000;
export const admissionResendMs = 100;
export const workerBeatMs = 100;
export const workerSilenceMsMax = 300;
export const messagesInFlightPerWorker = 2;
export const countersDeadlineMs = 250;
export const databaseDeadlineMs = 5_000;
export const rebuildWaitMs = 1_000;
export const rebuildReportMs = 300;
/** A reservation outlives the longest stream by five minutes, then the sweeper may expire it. */
export const holdMs = 1_200_000;
export const tombstoneMs = 60_000;

// Ours: metering
export const settlementBatchMax = 400;
/** Settlements leave a gateway at most this often, unless a batch is full: what ends meanwhile travels together. */
export const settlementPauseMs = 50;
export const settlementBatchBytesMax = 256 * 1024;
export const settlementTransactionMax = 2_000;
/** Metering takes events at most this often, unless as many as it takes at once were there: transactions are large under load. */
export const settlementPaceMs = 100;
export const settlementEventsMax = 64;
/** Releases and pushes in one call of the counters' store, which does nothing else meanwhile. */
export const resolveBatchMax = 256;
/** Above this many generations without a confirmed charge a gateway admits no more. */
export const unsettledMax = 200_000;
export const meteringLagMsMax = 300_000;

// Ours: streams
/** How late the end of a wait of a provider call or of a stream may be noticed. */
export const lookMs = 500;
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

// Ours: caches and waits of admission
export const recordsCachedMax = 100_000;
export const unknownKeysCachedMax = 10_000;
export const recordLookupMs = 1_000;
/** How often a ledger that is used is looked at beside its counters: a database may have been restored. */
export const ledgerLookMs = 30_000;
/** Looks that nobody waits for are gathered for so long. */
export const ledgerLookPauseMs = 250;
/** A record that is used at this age is read again while it serves. */
export const readAheadAgeMs = 20_000;
/** Such reads are gathered for so long. */
export const readAheadPauseMs = 50;
/** How long a worker lets a message wait for counters that are being loaded before it says "ask again". */
export const loadPatienceMs = 40;
export const askAgainMs = 20;
export const storeTimeAgeMsMax = 1_000;
export const questionsWaitingMax = 20_000;
export const voidsWaitingMax = 100_000;
export const voidRetryMs = 500;
export const backlogPollMs = 5_000;

// Ours: the front's spool and its outlet
export const spoolSegmentBytesMax = 1024 * 1024;
/** How often the spool is told how far open generations are, and after how long what it was told is told again. */
export const progressMs = 900;
export const progressKeptMs = 30_000;
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

// Ours: metering and shutdown
export const sweepMs = 10_000;
export const sweepBatchMax = 200;
export const reconcileMs = 60_000;
export const proberPauseMs = 5_000;
export const prepareRetryMs = 500;
export const readyDeadlineMs = 1_500;
/** A gateway of a fleet that was told to stop goes on serving for so long, while balancers and clients look elsewhere. */
export const shutdownLeaveMsDefault = 2_000;
/** Then it takes no new connection, and waits for handshakes under way so long at most: below the second after which a client tries again. */
export const handshakeMsMax = 500;
/** And then until no kept connection has brought a last request for so long, */
export const shutdownLingerMs = 200;
/** or this is over. */
export const shutdownLingerMsMax = 2_000;
export const liveLookMs = 50;
export const shutdownDrainMs = 25_000;
export const shutdownFlushMs = 10_000;

// Ours: models and providers
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

// Ours: stored prompts and the keys that they are sealed with
/** UTF-16 units of an answer's texts; an answer that is longer is kept up to here. */
export const storedAnswerCharactersMax = 1_048_576;
/** Prompts that do not fit are dropped and counted: no answer waits for its prompt to be stored. */
export const promptsWaitingMax = 1_000;
export const promptBytesWaitingMax = 32 * 1024 * 1024;
export const promptBatchMax = 64;
export const promptBatchBytesMax = 1024 * 1024;
export const promptWriteAttemptsMax = 5;
export const promptWriteRetryMs = 1_000;
export const promptsDeletedAtOnce = 5_000;
export const promptDeletionMsMax = 50_000;
export const dataKeysCachedMax = 10_000;
export const dataKeysAtOnce = 1_000;

// Ours: launch checks
export const launchCheckMsMax = 60_000;
export const launchChecksAtOnce = 8;
/** How long `model check` waits without hearing of any check before it takes the prober for dead. */
export const launchChecksSilenceMsMax = 90_000;
export const launchChecksWaitMs = 200;
export const modelCheckMsMax = 600_000;

// Ours: control API
export const nameCharactersMax = 200;
export const emailCharactersMax = 254;
/** The counters' scripts compute in doubles: a larger balance would not be exact. */
export const balanceUsdMax = 9_000_000;
export const balanceNanoMax = 9_000_000_000_000_000n;
export const controlDeadlineMs = 10_000;
export const logRowsDefault = 100;
export const logRowsMax = 1_000;
export const auditRowsMax = 1_000;
export const positionsAtOnceMax = 64;
export const positionsMsMax = 3_000;
export const ledgerStatementMsMax = 600_000;

// Ours: the database
export const databaseConnectionsMax = 8;
/** How long a statement may wait for a free connection, and how long it may then run: together within databaseDeadlineMs. */
export const databaseLineMsMax = 1_000;
export const databaseStatementMsMax = 4_000;
export const databaseConnectMs = 2_000;
export const databaseLockMs = 2_000;
export const databaseIdleInTransactionMs = 5_000;
export const migrationMsMax = 600_000;
export const databaseOpenMs = 60_000;
/** A statement of the embedded database; work on many rows is granted more, or less, by itself. */
export const embeddedStatementMsMax = 30_000;
export const upkeepMs = 30_000;
export const upkeepWalBytesMax = 64 * 1024 * 1024;

// Ours: the bus
/** Time on the bus is counted in turns of this length; see backing/distributed/roster.ts. */
export const busTurnMs = 50;
/** After a second without a beat of anybody, questions are refused at once. */
export const busSilenceMsMax = 1_000;
/** Who has listened for less than this does not know whom to ask. */
export const surveyListenMs = 500;
/** For how long after its last beat a process is expected to answer surveys: without its answer there is none. */
export const reporterMemoryMs = 2_000;
export const answersInFlightMax = 256;
export const questionMessagesWaitingMax = 1_024;
/** Questions in one process are calls: more of them at once gain nothing, fewer would wait for the slowest. */
export const embeddedQuestionsInFlight = 16;
export const busConnectMs = 2_000;
export const busReconnectMs = 200;
export const busPingMs = 1_000;
export const busPingsUnansweredMax = 2;
export const busCallMs = 2_000;
export const eventPublishMs = 5_000;
/** What NATS takes in one message by default. */
export const busPayloadBytesMax = 1024 * 1024;
export const eventStreamBytesMax = 2 * 1024 * 1024 * 1024;
/** Between finding that a stream is missing and making it. */
export const eventStreamPauseMs = 500;
/** Above this size, what was acknowledged is removed from the stream. */
export const eventTrimBytes = 256 * 1024 * 1024;
export const eventTrimMs = 10_000;
export const eventAgeMsMax = 7 * 86_400_000;
export const eventDuplicateMs = 120_000;
export const eventAckMs = 10_000;
export const eventsUnacknowledgedMax = 20_000;
export const eventPullMs = 2_000;
export const eventRetryMs = 250;
export const eventRetryMsMax = 5_000;
/** A consumer whose acknowledged end did not move for this long, with events there, is made anew. */
export const eventStuckMs = 180_000;
