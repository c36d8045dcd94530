/**
 * Deletes stored prompts that are older than their workspace keeps them: in every process that meters, once a minute. Workspaces take turns
 * by batches, so that one with millions of old prompts does not hold up the others. A batch holds the setting, so that nothing is deleted
 * under a setting that has changed.
 */
import type { Actor } from "../../accounts/audit/actor.ts";
import { change } from "../../accounts/audit/change.ts";
import type { Database } from "../../backing/backing.ts";
import { sleep, type Clock } from "../../kernel/clock.ts";
import { errorCode } from "../../kernel/error-code.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import type { Logger } from "../../kernel/log.ts";
import { repeatUntilStopped } from "../../kernel/repeat.ts";
import * as limits from "./limits.ts";
import { deleteBatch } from "./prompts.ts";
import { holdRetention, selectDueRetentions } from "./store.ts";

interface RetentionParts {
  sql: Database;
  clock: Clock;
  log: Logger;
}

const actor: Actor = { kind: "service" };
const dayMs = 86_400_000;

/** Until disposed. */
export function startPromptRetention(parts: RetentionParts): AsyncDisposable {
  const { clock, log } = parts;
  return repeatUntilStopped({
    clock,
    round: (signal) => retainPrompts(parts, { signal, pauseMs: limits.promptRetentionPauseMs }),
    everyMs: limits.promptRetentionMs,
    onError: (error) => log.warn({ event: "prompts.not_retained", reason: String(error) }, "Old prompts could not be deleted"),
  });
}

interface RoundOptions {
  /** After each batch. */
  pauseMs?: number;
  signal?: AbortSignal;
}

/** Runs until no prompt is due, or a pass over the workspaces deletes none. @returns how many were deleted */
export async function retainPrompts(parts: RetentionParts, options: RoundOptions = {}): Promise<number> {
  const now = parts.clock.now();
  const endMs = now - (now % limits.promptRetentionStepMs);
  let total = 0;
  for (;;) {
    const deleted = await passOver(endMs, parts, options);
    if (deleted === 0) return total;
    total += deleted;
  }
}

/** One batch of each workspace. */
async function passOver(endMs: number, parts: RetentionParts, { pauseMs = 0, signal }: RoundOptions): Promise<number> {
  let deleted = 0;
  for (let after = ""; ;) {
    const due = await selectDueRetentions({ endMs, after, limit: limits.promptRetentionsMax }, parts.sql);
    const last = due.at(-1);
    if (last === undefined) return deleted;
    after = last;
    for (const workspace of due) {
      if (signal?.aborted) return 0;
      deleted += await retainBatch(workspace, endMs, parts);
      if (pauseMs > 0) await sleep(parts.clock, pauseMs, signal);
    }
  }
}

/** Never rejects, so that a failure of one workspace does not affect others. */
async function retainBatch(workspace: WorkspaceId, endMs: number, { log, ...sources }: RetentionParts): Promise<number> {
  try {
    return await change(actor, sources, async (tx) => {
      const keptDays = await holdRetention(workspace, tx);
      if (keptDays === null) return { result: 0, event: null };
      const before = new Date(endMs - keptDays * dayMs);
      return deleteBatch({ workspace, before, limit: limits.promptRetentionBatchMax, keptDays }, tx);
    });
  } catch (error) {
    log.warn({ event: "prompts.not_retained", workspace, reason: nameOf(error) }, "Old prompts could not be deleted");
    return 0;
  }
}

function nameOf(error: unknown): string {
  return error instanceof Error ? `${error.name} ${errorCode(error)}`.trim() : "unknown";
}
