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
/** A refused body is read on for this long where the answer would be lost otherwise. */
export const refusedBodyMsMax = 5_000;
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
export const drainMsMax = 30_000;
export const drainsMax = 64;
export const upstreamAnswerBytesMax = 32 * 1024 * 1024;
export const probeOutputTokensMax = 16;

// Ours: caches and waits of admission
export const recordsCachedMax = 100_000;
export const unknownKeysCachedMax = 10_000;
export const recordLookupMs = 1_000;
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
/** And then for so long, in which a connection whose answer has just ended may bring its last request. */
export const shutdownLingerMs = 200;
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
/** A connection to a provider that has carried nothing for longer is closed when the next call would take it. */
export const idleConnectionMsMax = 50_000;
export const idleConnectionsPerOrigin = 256;
export const upstreamHeadBytesMax = 64 * 1024;
/** What may wait in here of an answer that nobody reads: more is left to the network, which slows its sender down. */
export const upstreamReadAheadBytesMax = 64 * 1024;
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

// The specification's: tools API
export const ticketTextCharactersMax = 8_000;
export const ticketContextCharactersMax = 500;
export const toolNameCharactersMax = 120;
export const attachmentPathCharactersMax = 4_096;
export const attachmentBytesMax = 50 * 1024 * 1024;
export const feedbackRatingMax = 5;
export const listRowsMax = 200;

// Ours: tools API
export const toolsBodyBytesMax = 50 * 1024 * 1024;
export const toolsBodyMs = 60_000;
export const toolsDeadlineMs = 10_000;
/** How often the last use of a tools key is noted. */
export const toolsKeyUseMs = 60_000;
export const ticketRowsDefault = 25;
/** The same ticket of the same person within this time is one ticket: agents try again. */
export const ticketRepeatMs = 600_000;
/** A file that no ticket came for is removed after this time. */
export const attachmentUnusedMs = 3_600_000;
export const attachmentsUnusedMax = 10;
export const mailPollMs = 5_000;
/** Of a mail that its server refused for now; doubled from attempt to attempt. */
export const mailRetryMs = 60_000;
export const mailRetryMsMax = 21_600_000;
export const mailAttemptsMax = 10;
/** Between tries to reach a mail server that is away. */
export const mailServerRetryMs = 1_000;
export const mailServerRetryMsMax = 60_000;
/** Connecting to a mail server, its greeting, and each of its answers. */
export const mailServerMs = 30_000;

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

// Ours: versions of packages, connectors
export const versionCharactersMax = 1_024;
export const connectorsDeadlineMs = 5_000;
export const connectorDocumentsKeptMax = 24;

// Ours: advisories
/** One record, as text. */
export const advisoryBytesMax = 8 * 1024 * 1024;
export const advisoryYamlBytesMax = 2 * 1024 * 1024;
export const advisoryIdCharactersMax = 128;
/** Aliases, related ids, severities, credits. */
export const advisoryNamesMax = 1_000;
export const advisoryPackagesMax = 10_000;
export const advisoryRangesMax = 10_000;
export const advisoryEventsMax = 10_000;
export const advisoryVersionsMax = 100_000;
/** Of a package or an ecosystem. */
export const advisoryNameCharactersMax = 1_024;
export const advisoryReferencesMax = 10_000;
export const cvssVectorCharactersMax = 512;
export const folderDepthMax = 32;

// Ours: archives
export const archiveEntriesMax = 2_000_000;
export const archiveBytesMax = 64 * 1024 * 1024 * 1024;
/** Text becomes a tenth or a thirtieth; bombs a thousandth. */
export const archiveRatioMax = 200;
/** Below so many unpacked bytes the ratio does not matter. */
export const archiveRatioFromBytes = 16 * 1024 * 1024;
export const archiveNameCharactersMax = 1_024;
export const tarHeaderBytesMax = 64 * 1024;

// Ours: SBOMs
export const sbomBytesMax = 50 * 1024 * 1024;
/** Levels of JSON or XML: a component within a component takes two. */
export const sbomDepthMax = 256;
/** JSON values, XML elements or lines: above this number a document of the largest size would take long and much memory. */
export const sbomValuesMax = 5_000_000;
/** Fields of one JSON object, attributes of one XML element. */
export const sbomFieldsMax = 1_000;
export const sbomKeyBytesMax = 1_024;
export const sbomComponentsMax = 300_000;
export const sbomEdgesMax = 1_000_000;
/** Of one text that is kept, such as a name; texts that are not read may be longer. */
export const sbomTextCharactersMax = 65_536;
/** Where a document has more problems, the search ends. */
export const sbomProblemsMax = 100;
export const sbomProblemsShownMax = 20;
