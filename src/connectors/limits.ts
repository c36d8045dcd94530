/** The limits of the connector catalog and of connections. */

// Retries
/** Pause between attempts to prepare what the catalog needs. */
export const prepareRetryMs = 500;

// Renderings
/** Pages and lists of the connector catalog that wait to be rendered; further requests get 503. */
export const renderingsWaitingMax = 64;
/** The longest pause after a rendering, which is otherwise twice its duration. */
export const renderingRestMsMax = 500;

// Catalog
/** Deadline of answers that need the database: changes, and exports of earlier versions. */
export const connectorsDeadlineMs = 5_000;
/** Documents that a gateway caches, plain and compressed. The sizes of one catalog's answers differ by a factor of a thousand. */
export const connectorDocumentsBytesMax = 8 * 1024 * 1024;
/** Pages that a gateway caches; a list page takes 50 kB, a connector's page 25 kB. */
export const connectorPagesBytesMax = 4 * 1024 * 1024;
/** Connectors on a list page. */
export const connectorPageRows = 50;

// Connections
export const connectionsPerWorkspaceMax = 2_000;
/** A one-line field. */
export const credentialCharactersMax = 4_096;
/** A multi-line field, such as a key file. */
export const credentialTextCharactersMax = 32_768;
/** One call to a vendor, from resolving its name to the end of its answer. */
export const probeCallMs = 8_000;
/** How much of a vendor's answer is read. */
export const probeAnswerBytesMax = 1024 * 1024;
