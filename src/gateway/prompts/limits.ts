/**
 * Limits of stored prompts and their data keys. Prompts beyond a limit of the queue are dropped and counted; the limits of deletion keep
 * one statement from taking seconds.
 */
/** UTF-16 units of an answer's texts. A longer answer is truncated. */
export const storedAnswerCharactersMax = 1_048_576;
/** Prompts that do not fit are dropped and counted, so that storage delays no answer. */
export const promptsWaitingMax = 1_000;
/** The size of their texts. */
export const promptBytesWaitingMax = 32 * 1024 * 1024;
/** Prompts in one statement. */
export const promptBatchMax = 64;
/** The size of their texts, if there are several. */
export const promptBatchBytesMax = 1024 * 1024;
/** Tries to write them; then they are dropped and counted. */
export const promptWriteAttemptsMax = 5;
/** Pause between these tries. */
export const promptWriteRetryMs = 1_000;
/** Prompts that one statement deletes, few enough that it does not take seconds. */
export const promptDeleteBatchMax = 5_000;
/** The size of their sealed texts, if there are several. */
export const promptDeleteBatchBytesMax = 32 * 1024 * 1024;
/** How often prompts past their workspace's retention are looked for. */
export const promptRetentionMs = 60_000;
/** They are deleted by whole hours, so that a busy workspace gets at most this many rows of the audit log a day. */
export const promptRetentionStepMs = 3_600_000;
/** Workspaces in one read. */
export const promptRetentionsMax = 200;
/** Prompts of one workspace that one statement deletes, while the embedded database does nothing else. */
export const promptRetentionBatchMax = 1_000;
/** Pause after each batch of such a deletion. */
export const promptRetentionPauseMs = 50;
/** The most prompts that the Console counts; beyond them it says that there are more. */
export const promptsCountedMax = 10_000;
/** Bytes of an answer to a request with an idempotency key, as JSON; a larger one is not kept. */
export const keptAnswerBytesMax = 262_144;
/** A repeated request waits so long for the first one's answer, and then is refused. */
export const keptAnswerReadMs = 2_000;
/** Before an answer is looked for again that may not be written yet. */
export const keptAnswerPauseMs = 500;
/** Kept answers that are old enough are deleted this often, and this many by one statement. */
export const keptAnswersForgetMs = 60_000;
export const keptAnswersDeleteMax = 1_000;
/** Data keys that a gateway keeps opened. */
export const dataKeysCachedMax = 10_000;
