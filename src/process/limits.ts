/** Limits of a process, and the defaults of variables. Each value has its row in docs/limits.md. */

// From the specification
export const streamDurationMsDefault = 900_000;

// Bodies
export const serverBodyBytesMax = 64 * 1024 * 1024;
export const operatorTokenCharactersMin = 32;

// Metering and shutdown
/** A gateway of a fleet that was told to stop goes on serving for so long, while balancers and clients look elsewhere. */
export const shutdownLeaveMsDefault = 2_000;
/** Then it takes no new connection, and waits for handshakes under way so long at most: below the second after which a client tries again. */
export const handshakeMsMax = 500;

// Quotas: requests without a key
/** How long the answers of /metrics and /ready serve whoever asks next. */
export const healthKeptMs = 1_000;

// Tools API
/** How long work on many rows keeps its thread from everything else, chats above all. */
export const turnMicroseconds = 500;

// Scans, findings
export const sbomsKeptDefault = 20;
export const sbomsKeptMax = 10_000;
