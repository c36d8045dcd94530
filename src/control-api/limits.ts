/** Limits of the control API. Each value has its row in docs/limits.md. */

// Bodies
export const controlBodyBytesMax = 1024 * 1024;
/** What one address may send at once, and again each second, before none of its tokens is looked at. */
export const wrongTokensMax = 3_000;
export const wrongTokensPerSecond = 10;
export const wrongTokenAddressesMax = 10_000;

// Stored prompts and the keys that they are sealed with
export const promptDeletionMsMax = 50_000;

// Launch checks
export const modelCheckMsMax = 600_000;

// Control API
export const controlDeadlineMs = 10_000;
export const logRowsDefault = 100;
export const logRowsMax = 1_000;
export const auditRowsMax = 1_000;
export const positionsAtOnceMax = 64;
export const positionsMsMax = 3_000;

// SBOMs
/** Until a file has arrived at the control API. */
export const controlFileMs = 60_000;
/** A document at the control API: arriving, reading and storing. */
export const sbomUploadMs = 230_000;
/** Products or projects that the control API lists. */
export const controlRowsMax = 10_000;

// Connections
/** A whole test, of at most a token and a call. */
export const connectionTestMs = 20_000;

// The store of advisories
/** One record of the largest size and what is around it. */
export const advisoryBatchBodyBytesMax = 12 * 1024 * 1024;
/** A larger body with advisories is read in a process of its own. */
export const advisoryReadHereBytesMax = 256 * 1024;

// Repositories
/** As it comes, packed. */
export const repositoryArchiveBytesMax = 50 * 1024 * 1024;
/** An import of an archive, until all of it has arrived and is stored. */
export const repositoryUploadMs = 120_000;
