/** Limits of the connector catalog and of connections. Each value has its row in docs/limits.md. */

// Metering and shutdown
export const prepareRetryMs = 500;

// Quotas: requests without a key
/** Pages and lists of the connector catalog that wait to be made; beyond it 503. */
export const renderingsWaitingMax = 64;
export const renderingRestMsMax = 500;

// Versions of packages, connectors
export const connectorsDeadlineMs = 5_000;
export const connectorDocumentsKeptMax = 24;
/** Some 20 kB each, plain and compressed. */
export const connectorPagesKeptMax = 200;
export const connectorPageRows = 50;

// Connections
export const connectionsPerWorkspaceMax = 2_000;
/** Of a field of one line. */
export const credentialCharactersMax = 4_096;
/** Of a field of several lines, such as a key file. */
export const credentialTextCharactersMax = 32_768;
/** One call at a vendor, from the look-up of its name to the end of its answer. */
export const probeCallMs = 8_000;
export const probeAnswerBytesMax = 1024 * 1024;
