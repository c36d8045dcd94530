/** The limits of the control API: bodies, sessions, rows and deadlines. */

// Bodies
/** Largest body of the control API. */
export const controlBodyBytesMax = 1024 * 1024;
/** How many wrong tokens an address may send at once; further ones are refused with a time to wait. */
export const wrongTokensMax = 3_000;
/** How many more it may send each second. */
export const wrongTokensPerSecond = 10;
/** Addresses for which a gateway counts wrong tokens. */
export const wrongTokenAddressesMax = 10_000;

// Sessions
/** Bodies of calls by the Console's sessions that are in memory at once. */
export const sessionBodiesMax = 48;
/** Such bodies of one workspace. */
export const sessionBodiesPerWorkspaceMax = 16;
/** Calls of the Console's sessions that a process runs at once. */
export const sessionCallsAtOnceMax = 32;
/** Running calls of one workspace. */
export const sessionCallsPerWorkspaceMax = 16;
/** Running calls of one person. */
export const sessionCallsPerPersonMax = 8;
/** Calls that wait. */
export const sessionCallsWaitingMax = 400;
/** Waiting calls of one person. */
export const sessionCallsWaitingPerPersonMax = 64;
/** The longest wait. */
export const sessionCallWaitMs = 5_000;
/** Files and records, of calls and of forms, that are in memory at once. */
export const sessionFilesMax = 4;
/** Files that are processed at once, one per workspace. */
export const sessionFilesAtOnceMax = 2;
/** Files of one person. */
export const sessionFilesPerPersonMax = 1;
/** Files that wait. */
export const sessionFilesWaitingMax = 8;
/** Waiting files of one person. */
export const sessionFilesWaitingPerPersonMax = 2;
/** The longest wait. */
export const sessionFileWaitMs = 60_000;
/** How far behind a file may be before it gives way to a waiting one: a phone that changes cells pauses for a second. */
export const sessionFileGivesWayMs = 2_000;

// Stored prompts
/** How long a caller waits for a deletion. */
export const promptDeletionMsMax = 50_000;

// Launch checks
/** Deadline of `model check` as a whole, if it does not report progress. */
export const modelCheckMsMax = 600_000;

// Control API
/** Deadline of one call of the control API. */
export const controlDeadlineMs = 10_000;
/** Rows of the request log by default. */
export const logRowsDefault = 100;
/** The most rows of the request log at once. */
export const logRowsMax = 1_000;
/** The most keys at once, if a `limit` is given. */
export const keyRowsMax = 1_000;
/** The most rows of the audit log at once. */
export const auditRowsMax = 1_000;
/** The most changes in an evidence pack. */
export const evidenceAuditRowsMax = 200_000;
/** Changes in one of its files, which is in memory while it is made. */
export const evidenceFileRowsMax = 10_000;
/** Deadline of an evidence pack's list of sums. The archive itself is made while it is sent. */
export const evidenceMs = 60_000;
/** The most members of a workspace at once. */
export const memberRowsMax = 1_000;
/** Invitations, new roles and reactivations by a workspace's admins in an hour: an invitation is a mail to any address. */
export const memberChangesPerHourMax = 100;
/** How long to wait before a person who has not accepted is invited again. */
export const inviteAgainMs = 3_600_000;
/** Workspaces of a list whose counters are read at once. */
export const positionsAtOnceMax = 64;
/** How long a list reads counters before it shows the rest without them. */
export const positionsMsMax = 3_000;

// Workbench
/** Time until an answer begins. It is longer than the inference API's own deadlines, and ends what they miss. */
export const workbenchAnswerMs = 960_000;

// SBOMs
/** Deadline for a file to arrive at the control API. */
export const controlFileMs = 60_000;
/** Deadline for a document that has arrived at the control API to wait, be read and be stored. */
export const sbomUploadMs = 230_000;
/** Deadline for importing the decisions of a VEX document that has arrived. */
export const vexImportMs = 120_000;
/** Products, projects or, with a limit, workspaces that the control API lists. */
export const controlRowsMax = 10_000;

// Connections
/** Deadline of a whole test: at most a token request and a call. */
export const connectionTestMs = 20_000;
/** Deadline of a reading of people, which bounds itself, and the rest of the request. */
export const peopleReadMs = 210_000;

// Alerts
/** Deadline of a webhook's test: one call and the rest of the request. */
export const alertTestMs = 20_000;

// Own provider keys
/** Deadline of one test call to a provider and the rest of the request. */
export const ownKeyTryMs = 70_000;

// Card top-up
/** Deadline of up to three calls to Stripe. */
export const topUpCallMs = 60_000;

// The store of advisories
/** One record of the largest size, with room for the rest of the body. */
export const advisoryBatchBodyBytesMax = 12 * 1024 * 1024;
/** A larger body with advisories is read in a subprocess. */
export const advisoryReadHereBytesMax = 256 * 1024;

// Repositories
/** Largest packed archive. */
export const repositoryArchiveBytesMax = 50 * 1024 * 1024;
/** Deadline for an archive that has arrived to be stored. */
export const repositoryUploadMs = 120_000;
