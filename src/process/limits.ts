/** The limits of a process, and the defaults of variables. */

// From the specification
/** Deadline of an answer, whole or streamed; then `upstream_timeout` (`STREAM_DURATION_MS`). */
export const streamDurationMsDefault = 900_000;

// Bodies
/** Largest body; beyond it the server itself answers 413 without a body. */
export const serverBodyBytesMax = 64 * 1024 * 1024;
/** Shortest token that `OPERATOR_TOKEN` and the file `operator-token` may hold. */
export const operatorTokenCharactersMin = 32;
/** Largest file that `<variable>_FILE` may name. */
export const secretFileBytesMax = 64 * 1024;

/** Free space that a first start needs in the data folder to create a database. */
export const firstStartBytesMin = 64 * 1024 * 1024;

// Metering and shutdown
/** How long a stopping gateway of a fleet continues to serve, while balancers and clients move to others. */
export const shutdownLeaveMsDefault = 2_000;
/** How long it then waits for pending handshakes, and after them for the queue of connections: together less than the second after which a client repeats its SYN. */
export const handshakeMsMax = 500;
/** How long it then waits until its queue of new connections is empty. */
export const acceptQueueMsMax = 400;

// Quotas: requests without a key
/** How long an answer of /metrics or /ready is reused. */
export const healthKeptMs = 1_000;

// The state of a fleet
/** How often the counter of answered requests is read. */
export const rateSampleMs = 10_000;
/** The time over which the rate of requests is counted. */
export const rateWindowMs = 60_000;

// Telemetry over OTLP
/** Ended spans that wait to be sent; further ones are dropped. */
export const telemetrySpansMax = 4_096;
/** Spans in one export. */
export const telemetrySpansBatch = 512;
/** Pause between two exports, unless a batch is full. */
export const telemetrySpansPauseMs = 1_000;
/** How long an export may take, including retries. */
export const telemetrySendMs = 10_000;
/** How long a process that ends keeps sending waiting spans. */
export const telemetryFlushMs = 2_000;

// Tools API
/** How long work on many rows may hold its thread before other work, such as chats, runs. */
export const turnMicroseconds = 500;

// Scans, findings
/** Documents that each project keeps, its current one among them: `SBOMS_KEPT`. */
export const sbomsKeptDefault = 20;
/** The most that `SBOMS_KEPT` may be. */
export const sbomsKeptMax = 10_000;

// OpenID Connect
/** Longest `OIDC_NAME`, the text on a button. */
export const oidcNameCharactersMax = 40;
