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

// Readings of people
/** People of one reading; further ones are left out, and the reading says so. */
export const peopleMax = 20_000;
/** Requests of one reading, with those that are repeated. */
export const peopleCallsMax = 600;
/** One page of a vendor's list. */
export const peoplePageBytesMax = 4 * 1024 * 1024;
/** Values of the JSON in one page. */
export const peoplePageValuesMax = 200_000;
/** All pages of one reading. */
export const peopleBytesMax = 96 * 1024 * 1024;
/** One request of a reading. */
export const peopleCallMs = 20_000;
/** One reading, with its waits. */
export const peopleReadingMs = 180_000;
/** The longest wait that a vendor may ask for within a reading. */
export const peopleWaitMsMax = 30_000;
/** Repeated requests of one reading. */
export const peopleRetriesMax = 5;
/** Organizations of one connection to GitHub. */
export const peopleOrganizationsMax = 20;
/** A login or an address; an address has at most 320 (RFC 5321). */
export const peopleLoginCharactersMax = 320;
/** How long one process alone reads a connection; longer than a reading. */
export const peopleLeaseMs = 240_000;
/** From one reading to the next. */
export const peopleEveryMs = 86_400_000;
/** From a reading that failed for a reason that passes to the next one. */
export const peopleRetryMs = 3_600_000;
/** How often each process looks for readings that are due. */
export const peopleLookMs = 60_000;
/** Rows of a list by default. */
export const peopleRowsDefault = 1_000;
