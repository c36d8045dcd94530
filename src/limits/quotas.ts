/** What one key, one workspace and one process may take at once, in an hour and in all; docs/limits.md says what each is for. */

// Of a workspace: stored
export const quotaHourMs = 3_600_000;
export const ticketsPerHourMax = 200;
/** Acknowledgements: tickets whose type is confirmed by mail. */
export const mailsPerHourMax = 60;
/** Files that no ticket has come for yet, together. */
export const attachmentUnusedBytesMax = 512 * 1024 * 1024;
/** Files of tickets and those that wait for theirs, together. */
export const attachmentStoredBytesMax = 10 * 1024 * 1024 * 1024;
export const productsPerWorkspaceMax = 10_000;
export const projectsPerWorkspaceMax = 10_000;
/** New documents; the same one once more is none. */
export const sbomsPerHourMax = 3_000;
export const sbomsPerWorkspaceMax = 100_000;
/** Characters of all rows of a workspace's documents; nearly as many bytes. */
export const sbomRowCharactersMax = 20 * 1024 * 1024 * 1024;

// Of a tools key: calls
export const toolsCallsPerMinuteDefault = 600;
/** How often gateways share what they counted. */
export const toolsCallsShareMs = 250;
/** Calls that a document counts as which was read apart and refused, or not read in time. */
export const sbomFailedReadCalls = 60;
/** Keys whose calls are remembered; above it those are forgotten whose minute is over. */
export const toolsKeysCountedMax = 10_000;
/** Calls that run at once in a process, and of one key; others wait in turn. */
export const toolsCallsRunningMax = 6;
export const toolsCallsRunningPerKeyMax = 3;
export const toolsCallsWaitingMax = 2_000;
export const toolsCallsWaitingPerKeyMax = 200;
export const toolsCallWaitMs = 10_000;
/** A turn of the event loop that takes longer makes calls wait for twice that time, at most for `loopRestMsMax`, one after the other. */
export const loopBusyMs = 2;
export const loopRestMsMax = 25;
/** The same of calls that take longer: uploads, imports, moves of projects; by workspace. */
export const longCallsRunningMax = 8;
export const longCallsRunningPerWorkspaceMax = 2;
export const longCallsWaitingMax = 200;
export const longCallsWaitingPerWorkspaceMax = 50;
export const longCallWaitMs = 60_000;

// Of a process, a workspace and a key: bodies under way
export const toolsBodiesBytesMax = 128 * 1024 * 1024;
export const toolsBodiesPerWorkspaceBytesMax = 48 * 1024 * 1024;
export const toolsBodiesPerKeyBytesMax = 24 * 1024 * 1024;
/** Documents and attachments on their way, which wait in files. */
export const documentsSpooledBytesMax = 2 * 1024 * 1024 * 1024;
export const documentsSpooledPerWorkspaceBytesMax = 512 * 1024 * 1024;
export const documentsSpooledPerKeyBytesMax = 256 * 1024 * 1024;
export const budgetRetryMs = 1_000;
/** Documents, attachments, and large bodies that are refused: as fast as all of a process are read together. */
export const largeBodiesBytesPerSecond = 32 * 1024 * 1024;

// Of a process: its disk
/** Below so many free bytes documents and attachments are refused, so that what is owed can still be written down. */
export const diskFloorBytes = 512 * 1024 * 1024;
export const diskLookMs = 1_000;
export const diskRetryMs = 60_000;

// Of a process: what is asked for without a key
/** Pages and lists of the connector catalog that wait to be made; beyond it 503. */
export const renderingsWaitingMax = 64;
export const renderingRestMsMax = 500;
/** How long the answers of /metrics and /ready serve whoever asks next. */
export const healthKeptMs = 1_000;

// Of inference: bodies and answers under way
export const bodiesBytesMax = 640 * 1024 * 1024;
export const bodiesPerWorkspaceBytesMax = 256 * 1024 * 1024;
export const bodiesPerKeyBytesMax = 192 * 1024 * 1024;
/** Of all, what only bodies of at most `bodySmallBytes` may take. */
export const bodiesReserveBytes = 64 * 1024 * 1024;
export const bodySmallBytes = 64 * 1024;
export const openAnswersMax = 20_000;
export const openAnswersPerWorkspaceMax = 8_000;
export const openAnswersPerKeyMax = 4_000;
export const openAnswersRetryMs = 1_000;
