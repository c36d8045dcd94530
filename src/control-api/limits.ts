/** Limits of the control API. Each value has its row in docs/internals/limits.md. */

// Bodies
export const controlBodyBytesMax = 1024 * 1024;
/** How many wrong tokens an address may send at once, and more each second, before further wrong ones are told to wait. */
export const wrongTokensMax = 3_000;
export const wrongTokensPerSecond = 10;
export const wrongTokenAddressesMax = 10_000;

// Sessions
/** Bodies of calls by the Console's sessions that are in memory at once. */
export const sessionBodiesMax = 48;
export const sessionBodiesPerWorkspaceMax = 16;
/** Calls of the Console's sessions that a process runs at once, and how long others wait. */
export const sessionCallsAtOnceMax = 32;
export const sessionCallsPerWorkspaceMax = 16;
export const sessionCallsPerPersonMax = 8;
export const sessionCallsWaitingMax = 400;
export const sessionCallsWaitingPerPersonMax = 64;
export const sessionCallWaitMs = 5_000;
/** The same for files and records, of calls and of forms: in memory at once, and worked on at once, one of a workspace. */
export const sessionFilesMax = 4;
export const sessionFilesAtOnceMax = 2;
export const sessionFilesPerPersonMax = 1;
export const sessionFilesWaitingMax = 8;
export const sessionFilesWaitingPerPersonMax = 2;
export const sessionFileWaitMs = 60_000;
/** How far behind a file gives its place to one that waits: a phone pauses for a second when it changes its cell. */
export const sessionFileGivesWayMs = 2_000;

// Stored prompts
export const promptDeletionMsMax = 50_000;

// Launch checks
export const modelCheckMsMax = 600_000;

// Control API
export const controlDeadlineMs = 10_000;
export const logRowsDefault = 100;
export const logRowsMax = 1_000;
export const keyRowsMax = 1_000;
export const auditRowsMax = 1_000;
export const memberRowsMax = 1_000;
/** Invitations, new roles and reactivations by a workspace's admins in an hour: an invitation is a mail to any address. */
export const memberChangesPerHourMax = 100;
/** How long a person who has not accepted is not invited again. */
export const inviteAgainMs = 3_600_000;
export const positionsAtOnceMax = 64;
export const positionsMsMax = 3_000;

// Workbench
/** Until an answer begins. It is longer than the inference API waits for any answer: its deadlines hold, and this ends what they miss. */
export const workbenchAnswerMs = 960_000;

// SBOMs
/** For a file to arrive at the control API. */
export const controlFileMs = 60_000;
/** For a document that has arrived at the control API to wait, be read and be stored. */
export const sbomUploadMs = 230_000;
/** For the decisions of a VEX document that has arrived. */
export const vexImportMs = 120_000;
/** Products or projects that the control API lists. */
export const controlRowsMax = 10_000;

// Connections
/** A whole test: at most a token request and a call. */
export const connectionTestMs = 20_000;

// Alerts
/** A test of a webhook: one call, with the rest of the request. */
export const alertTestMs = 20_000;

// Own provider keys
/** One test call of a provider, with the rest of the request. */
export const ownKeyTryMs = 70_000;

// Card top-up
/** Up to three calls of Stripe. */
export const topUpCallMs = 60_000;

// The store of advisories
/** One record of the largest size, with room for the rest of the body. */
export const advisoryBatchBodyBytesMax = 12 * 1024 * 1024;
/** A larger body with advisories is read in a subprocess. */
export const advisoryReadHereBytesMax = 256 * 1024;

// Repositories
/** The packed archive. */
export const repositoryArchiveBytesMax = 50 * 1024 * 1024;
/** For an archive that has arrived to be stored. */
export const repositoryUploadMs = 120_000;
