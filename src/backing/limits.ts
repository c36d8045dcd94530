/** Limits of the bus, the counters and the database. Each value has its row in docs/limits.md. */

// From the specification
export const rateWindowMs = 60_000;

// Admission
export const admissionDeadlineMs = 2_000;
export const admissionResendMs = 100;
export const workerBeatMs = 100;
export const workerSilenceMsMax = 300;
export const messagesInFlightPerWorker = 2;
export const countersDeadlineMs = 250;
export const databaseDeadlineMs = 5_000;
/** A reservation outlives the longest stream by five minutes, then the sweeper may expire it. */
export const holdMs = 1_200_000;
export const tombstoneMs = 60_000;

// Metering
/** Releases and pushes in one call of the counters' store, which does nothing else meanwhile. */
export const resolveBatchMax = 256;

// The database
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

// The bus
/** Time on the bus is counted in turns of this length; see backing/nats/membership.ts. */
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
