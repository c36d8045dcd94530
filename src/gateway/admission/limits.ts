/**
 * Limits of blocks at a gateway, and of cached records. How large a block may be and how long it lives is in src/backing/limits.ts, since
 * the counters decide it.
 */
/** How often a gateway ends and returns blocks. */
export const blockTickMs = 100;
/** After its end a block waits for the ledger to have its requests, so that one return suffices. Later returns are this far apart. */
export const blockReturnPauseMs = 500;
/** The same for a block that was recalled: a request near a limit waits for it. */
export const blockRecallPauseMs = 50;
/**
 * How long after its last return a block stays in reports to rebuilds: Redis may have lost it with a master, and rebuilds 2.5 to 10 s
 * later.
 */
export const blockReportedMs = 15_000;
/**
 * After this long without hearing a worker, or without running, a gateway decides with none of its blocks: a rebuild may proceed without
 * it.
 */
export const blockSilenceMsMax = 500;
/** How often a worker asks the counters whether they answer, while it has lent a block. */
export const countersWatchMs = 200;
/** Requests of a key that are further apart are decided one by one: lending costs as much as two requests to a worker. */
export const blockDemandMs = 2_500;
/** A block that is unused for this long, and for six of its key's usual pauses, is returned before its end. */
export const blockIdleMs = 1_500;
/** How long a worker that lent nothing is not asked again for a block of the same key. */
export const blockKeptPauseMs = 5_000;
/** The longest such pause: it begins after a block that hardly served, and doubles with each further one. */
export const blockUnusedPauseMsMax = 60_000;
/** Keys whose demand is known. */
export const blockKeysMax = 50_000;

/** How long a credit read waits for a gateway that does not report its blocks' use. */
export const blockUseMs = 300;
/** At most this many surveys about a workspace go to all gateways in the time below. */
export const blockUseAsksMax = 4;
/** The time for this many questions. */
export const blockUsePauseMs = 100;
/** Workspaces for which the time of their last question is remembered. */
export const blockUseWorkspacesMax = 1_000;
/** How often counters are read because blocks were lent or returned meanwhile. */
export const blockUseRoundsMax = 2;
/** Blocks of a workspace that one query of the counters covers; the others count whole. */
export const blockUsesMax = 2_000;

/** Records of keys that a process caches, with their own provider keys; a hundred thousand without any take less. */
export const recordsCachedBytesMax = 64 * 1024 * 1024;
