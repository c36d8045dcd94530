/** Limits of the bus, the counters and the database. Each value has its row in docs/internals/limits.md. */

// From the specification
export const rateWindowMs = 60_000;

// Admission
export const admissionDeadlineMs = 2_000;
export const admissionResendMs = 100;
export const workerHeartbeatMs = 100;
export const workerSilenceMsMax = 300;
export const messagesInFlightPerWorker = 2;
export const countersDeadlineMs = 250;
/** How often the nodes of a Redis Cluster are asked which of them has which slots. */
export const clusterPollMs = 500;
/** The pause before a workspace is looked for again, whose slot is on its way. */
export const clusterRetryMs = 20;
/** For so long a master counts after most masters said that it has not failed. */
export const clusterLeaseMs = 2_000;
/** A lease, an answer and a call: then nobody asks any more the failed master whose place another took. */
export const clusterTakeoverMs = clusterLeaseMs + 2 * countersDeadlineMs;
export const databaseDeadlineMs = 5_000;
/** A reservation outlives the longest stream by five minutes, then the sweeper may expire it. */
export const holdMs = 1_200_000;
export const tombstoneMs = 60_000;
/** Longer than a month and a hold after it: no open hold counts in a period that is forgotten. */
export const budgetKeptMs = 62 * 86_400_000;

// Blocks of credit and of a window, which workers lend to gateways
/** A gateway decides with a block for so long at most. */
export const blockLifeMs = 10_000;
/** A block is at most this part of what is free of credit, months and window at the moment of lending. */
export const blockShare = 50;
/** Keys with a lower limit are asked for request by request. Of the others at most half of the window is used or lent. */
export const blockRateMin = 600;
/** A block with fewer places costs more than it saves. */
export const blockPlacesMin = 2;
/** How long after its end a block may still hold credit that nothing uses, until its gateway has returned it. */
export const blockReturnMsMax = 2_000;
/** After a recall nothing is lent for so long. */
export const blockPauseMs = 10_000;

// Metering
/** Releases and pushes in one call of the counters' store, which runs nothing else meanwhile. */
export const resolveBatchMax = 256;

// The database
export const databaseConnectionsMax = 8;
/** A statement may wait so long for a free connection and then run so long: together within databaseDeadlineMs. */
export const databaseConnectionWaitMsMax = 1_000;
export const databaseStatementMsMax = 4_000;
export const databaseConnectMs = 2_000;
/** How long a connection may go unused. The pool closes it when another one is given back. */
export const databaseSessionIdleMsMax = 20_000;
/** How long hosts of a database are asked which of them takes writes, and how long after one the next is asked. */
export const databaseHostMs = 1_000;
export const databaseNextHostMs = 200;
/** How old reads of a replica may be, how often it is looked at, and how long that may take. */
export const databaseReadLagMsMax = 2_000;
export const databaseReadCheckMs = 1_000;
export const databaseReadWaitMs = 500;
export const databaseLockMs = 2_000;
export const databaseIdleInTransactionMs = 5_000;
/** Who holds a lock shows so often that it lives, and loses the lock after this silence. */
export const advisoryLockBeatMs = 500;
export const advisoryLockSilenceMsMax = 2_000;
export const migrationMsMax = 600_000;
export const databaseOpenMs = 60_000;
/** The time of a statement of the embedded database; work on many rows sets its own. */
export const embeddedStatementMsMax = 30_000;
export const upkeepMs = 30_000;
export const upkeepWalBytesMax = 64 * 1024 * 1024;

// The bus
/** Time on the bus is counted in ticks of this length; see backing/nats/ticker.ts. */
export const busTickMs = 50;
/** How long a call of the roll waits for answers. */
export const rollCallMs = 500;
/** How long each question about the state of a fleet may take. */
export const fleetQuestionMs = 4_000;
/** After a second without any heartbeat, requests are refused at once. */
export const busSilenceMsMax = 1_000;
/** A process that has listened for less than this does not yet know all others, and scatters no request. */
export const scatterListenMs = 500;
/** A process that is to serve requests waits so long at most until others may know of it. */
export const busServeMs = 3_000;
/** For so long after its last heartbeat a process is expected to reply to scattered requests: without its reply they fail. */
export const scatterServerMemoryMs = 2_000;
export const busRepliesInFlightMax = 256;
export const busRequestsWaitingMax = 1_024;
/** Requests in one process are function calls: more of them at once gain nothing, fewer would wait for the slowest. */
export const embeddedRequestsInFlight = 16;
export const busConnectMs = 2_000;
export const busReconnectMs = 200;
export const busPingMs = 1_000;
/** How often a link looks whether its server was cut off from the others of its cluster. */
export const busClusterLookMs = 1_000;
export const busPingsUnansweredMax = 2;
export const busCallMs = 2_000;
export const eventPublishMs = 5_000;
/** The default bound of NATS for one message. */
export const busPayloadBytesMax = 1024 * 1024;
export const eventStreamBytesMax = 2 * 1024 * 1024 * 1024;
/** The pause between finding that a stream is missing and creating it. */
export const eventStreamPauseMs = 500;
/** Above this size, acknowledged events are removed from the stream. */
export const eventTrimBytes = 256 * 1024 * 1024;
export const eventTrimMs = 10_000;
export const eventAgeMsMax = 7 * 86_400_000;
export const eventDuplicateMs = 120_000;
export const eventAckMs = 10_000;
export const eventsUnacknowledgedMax = 20_000;
/** A consumer that delivers nothing of what it has for this long is created anew. */
export const eventKeptBackMs = 5_000;
/** A stream is divided among so many processes at most. Further ones stand by. */
export const eventPartitionsMax = 32;
export const eventPullMs = 2_000;
/** So many events at once are delivered again. */
export const eventReplayMax = 256;
/** NATS forgets a replay that its process left so long ago. */
export const eventReplayIdleMs = 60_000;
/** How often a worker of a new fleet looks whether a gateway has made the tables, and how long an answer may take. */
export const schemaLookMs = 200;
export const schemaLookMsMax = 2_000;
export const eventRetryMs = 250;
export const eventRetryMsMax = 5_000;
/** A consumer whose acknowledged end did not move for this long, although there are events, is created anew. */
export const eventStalledMs = 180_000;
