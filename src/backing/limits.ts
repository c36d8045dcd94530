/**
 * Limits of the bus, the counters and the database, each with its unit, by the part that keeps it. Limits of the gateway are in
 * src/gateway/limits.ts.
 */
// From the specification
/** The sliding window in which a key's requests are counted; beyond its limit 429 `rate_limited`. Refused requests do not count. */
export const rateWindowMs = 60_000;

// Admission
/** An admission as a whole; then 503. */
export const admissionDeadlineMs = 2_000;
/** A message that has no reply after this long goes to a second worker. */
export const admissionResendMs = 100;
/** How often a worker sends a heartbeat. */
export const workerHeartbeatMs = 100;
/** A worker silent for this long gets no further messages. */
export const workerSilenceMsMax = 300;
/** Messages in flight to one worker. */
export const messagesInFlightPerWorker = 2;
/** Timeout of one call of the counters. */
export const countersDeadlineMs = 250;
/** How often the nodes of a Redis Cluster are asked which of them has which slots. */
export const clusterPollMs = 500;
/** The pause before a workspace whose slot is moving is looked up again. */
export const clusterRetryMs = 20;
/** How long a master is trusted after most masters said that it has not failed. */
export const clusterLeaseMs = 2_000;
/** A lease, an answer and a call: after this long no process still calls a failed master that was replaced. */
export const clusterTakeoverMs = clusterLeaseMs + 2 * countersDeadlineMs;
/** Timeout of one database call, including its wait for a connection. */
export const databaseDeadlineMs = 5_000;
/** A reservation outlives the longest stream by five minutes, then the sweeper may expire it. */
export const holdMs = 1_200_000;
/** How long the counters remember how a reservation was resolved. */
export const tombstoneMs = 60_000;
/** How long the counters remember which generation has a claim: until its hold has ended and its tombstone has expired. */
export const claimMs = holdMs + tombstoneMs;
/** Longer than a month and a subsequent hold: no open hold counts in a forgotten period. */
export const budgetKeptMs = 62 * 86_400_000;

// Blocks of credit and of a window, which workers lend to gateways
/** How long a gateway may decide with a block. */
export const blockLifeMs = 10_000;
/** A block is at most this share of the free credit, months and window at the moment of lending. */
export const blockShare = 50;
/** Requests of keys with a lower limit are decided one by one. Of the others, at most half of the window is used or lent. */
export const blockRateMin = 600;
/** A block with fewer places costs more than it saves. */
export const blockPlacesMin = 2;
/** How long after its end a block may still hold credit that nothing uses, until its gateway has returned it. */
export const blockReturnMsMax = 2_000;
/** How long nothing is lent after a recall. */
export const blockPauseMs = 10_000;

// Metering
/** Releases and pushes in one call of the counters' store, which runs nothing else meanwhile. */
export const resolveBatchMax = 256;

// The database
/** Connections of a process. */
export const databaseConnectionsMax = 8;
/** How long a statement may wait for a free connection. With databaseStatementMsMax it stays within databaseDeadlineMs. */
export const databaseConnectionWaitMsMax = 1_000;
/** How long it may then run. */
export const databaseStatementMsMax = 4_000;
/** Timeout of making a connection. */
export const databaseConnectMs = 2_000;
/** How long a connection may go unused. The pool closes it when another one is given back. */
export const databaseSessionIdleMsMax = 20_000;
/** How long the hosts of a database are asked which of them takes writes. */
export const databaseHostMs = 1_000;
/** How long after one host the next is asked. */
export const databaseNextHostMs = 200;
/** How old reads of a replica may be. */
export const databaseReadLagMsMax = 2_000;
/** How often a replica is checked. */
export const databaseReadCheckMs = 1_000;
/** Timeout of that check. */
export const databaseReadWaitMs = 500;
/** How long a statement may wait for a lock. */
export const databaseLockMs = 2_000;
/** How long a transaction may be idle. */
export const databaseIdleInTransactionMs = 5_000;
/** How often the holder of a lock shows that it is alive. */
export const advisoryLockBeatMs = 500;
/** After this silence it loses the lock, and another process does the work. */
export const advisoryLockSilenceMsMax = 2_000;
/** Timeout of the migrations at start. */
export const migrationMsMax = 600_000;
/** Timeout of opening the embedded database. The first start creates it, which takes a small, busy machine more than a minute. */
export const databaseOpenMs = 180_000;
export const databaseCloseMs = 60_000;
/** Timeout of a statement of the embedded database; work on many rows sets its own. */
export const embeddedStatementMsMax = 30_000;
/**
 * PostgreSQL's cache within the embedded database, in place of 128 MB, all of which is resident from the start. The system's cache of files
 * stands behind it.
 */
export const embeddedSharedBuffers = "32MB";
/** How often the embedded database gets upkeep. */
export const upkeepMs = 30_000;
/** Size of its log at which a checkpoint is made. */
export const upkeepWalBytesMax = 64 * 1024 * 1024;

// The bus
/** Time on the bus is counted in ticks of this length; see backing/nats/membership.ts. */
export const busTickMs = 50;
/** How long a call of the roll waits for answers. */
export const rollCallMs = 500;
/** How long each question about the state of a fleet may take. */
export const fleetQuestionMs = 4_000;
/** After a second without any heartbeat, requests are refused at once. */
export const busSilenceMsMax = 1_000;
/** A process that has listened for less than this does not yet know all others, and scatters no request. */
export const scatterListenMs = 500;
/** How long a process that is to serve requests waits until others may know of it. */
export const busServeMs = 3_000;
/**
 * How long after its last heartbeat a process, or the one that has its data now, must still reply to scattered requests: without the reply
 * they fail. A supervisor should start a successor within this time; the service recovers within five seconds without one.
 */
export const scatterServerMemoryMs = 3_000;
/** Requests that one server works on at once. */
export const busRepliesInFlightMax = 256;
/** Messages that wait in a gateway for a worker; beyond it 503. */
export const busRequestsWaitingMax = 1_024;
/** Requests within one process are function calls: more at once gain nothing, and fewer would wait for the slowest. */
export const embeddedRequestsInFlight = 16;
/** Timeout of making a connection. */
export const busConnectMs = 2_000;
/** Pause between tries to connect again. */
export const busReconnectMs = 200;
/** How often a connection is tested. */
export const busPingMs = 1_000;
/** How often a link checks whether its server was cut off from the rest of its cluster. */
export const busClusterLookMs = 1_000;
/** After this many unanswered tests, the link connects again. */
export const busPingsUnansweredMax = 2;
/** Timeout of one call of the event store. */
export const busCallMs = 2_000;
/** Timeout of storing one event. */
export const eventPublishMs = 5_000;
/** The default bound of NATS for one message. */
export const busPayloadBytesMax = 1024 * 1024;
/** All events that wait; beyond it no more are stored and gateways keep their spools. */
export const eventStreamBytesMax = 2 * 1024 * 1024 * 1024;
/** The pause between finding that a stream is missing and creating it. */
export const eventStreamPauseMs = 500;
/** Above this size, acknowledged events are removed from the stream. */
export const eventTrimBytes = 256 * 1024 * 1024;
/** How often that size is checked. */
export const eventTrimMs = 10_000;
/** Age of an event. */
export const eventAgeMsMax = 7 * 86_400_000;
/** How long a repeated event is recognized. */
export const eventDuplicateMs = 120_000;
/** How long a consumer may take before its events are delivered again. */
export const eventAckMs = 10_000;
/** Events delivered and not acknowledged. */
export const eventsUnacknowledgedMax = 20_000;
/** A consumer that has events but delivers none for this long is created again. */
export const eventKeptBackMs = 5_000;
/** A stream is divided among this many processes at most. Further ones stand by. */
export const eventPartitionsMax = 32;
/** How long one request for events waits. */
export const eventPullMs = 2_000;
/** How many events are delivered again at once. */
export const eventReplayMax = 256;
/** NATS forgets a replay that its process left this long ago. */
export const eventReplayIdleMs = 60_000;
/** How often a worker of a new fleet checks whether a gateway has made the tables. */
export const schemaLookMs = 200;
/** Timeout of such a check. */
export const schemaLookMsMax = 2_000;
/** First pause before events are delivered again. */
export const eventRetryMs = 250;
/** Longest such pause. */
export const eventRetryMsMax = 5_000;
/** A consumer whose acknowledged end did not move for this long, although there are events, is created again. */
export const eventStalledMs = 180_000;
