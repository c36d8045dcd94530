/**
 * Limits a workspace's tickets and emails per hour, and its files that have no ticket yet. Tickets are counted under a lock, after the new
 * row is written, so that two calls never take the last slot together.
 */
import type { Transaction } from "../../backing/backing.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { quotaHourMs } from "../../accounts/limits.ts";
import * as limits from "../limits.ts";
import { quotaFull, quotaOfHourFull, LimitReachedError } from "../../accounts/errors.ts";
import { lockQuota } from "../../accounts/quotas/store.ts";
import { selectLoggedAt, type StoredFiles } from "./store.ts";

/** Call it after the ticket's row is written. @throws LimitReachedError */
export async function requireTicketQuota(
  { workspace, mailed, now }: { workspace: WorkspaceId; mailed: boolean; now: number },
  tx: Transaction,
): Promise<void> {
  await lockQuota({ workspace, counted: "tickets" }, tx);
  const logged = { workspace, after: new Date(now - quotaHourMs) };
  const ticket = await selectLoggedAt({ ...logged, offset: limits.ticketsPerHourMax, mailed: false }, tx);
  if (ticket) {
    throw quotaOfHourFull(
      { what: "tickets", max: limits.ticketsPerHourMax, limit: "ticketsPerHourMax" },
      { oldest: ticket, now },
    );
  }
  if (!mailed) return;
  const confirmed = await selectLoggedAt({ ...logged, offset: limits.mailsPerHourMax, mailed: true }, tx);
  if (!confirmed) return;
  const quota = { what: "tickets that are confirmed by mail", max: limits.mailsPerHourMax, limit: "mailsPerHourMax" };
  throw quotaOfHourFull(quota, { oldest: confirmed, now });
}

/**
 * Checks whether there is room for `more` files.
 * @throws LimitReachedError if too many files have no ticket; DomainError conflict if the files of tickets are too large
 */
export function requireFileQuota(stored: StoredFiles, { more, now }: { more: number; now: number }): void {
  const wait = { status: 429 as const, retryAfterMs: (stored.oldestUnused?.getTime() ?? now) + limits.attachmentUnusedMs - now };
  if (stored.own + more > limits.attachmentsUnusedMax) {
    const many = `${limits.attachmentsUnusedMax} files without a ticket`;
    throw new LimitReachedError(`Cannot store more than ${many} (attachmentsUnusedMax): try again later`, wait);
  }
  if (stored.unusedBytes > limits.attachmentUnusedBytesMax) {
    const many = `${limits.attachmentUnusedBytesMax} bytes of a workspace's files without a ticket`;
    throw new LimitReachedError(`Cannot store more than ${many} (attachmentUnusedBytesMax): try again later`, wait);
  }
  if (stored.bytes > limits.attachmentStoredBytesMax) {
    throw quotaFull({ what: "bytes of attachments", max: limits.attachmentStoredBytesMax, limit: "attachmentStoredBytesMax" });
  }
}
