/**
 * Limits the tickets and mails of a workspace within an hour, and the files that wait for their tickets. Tickets are counted under a
 * lock, after the new row is written, so that two calls never take the last place together.
 */
import type { Transaction } from "../../backing/backing.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { quotaHourMs } from "../../accounts/limits.ts";
import {
  attachmentStoredBytesMax,
  attachmentUnusedBytesMax,
  attachmentUnusedMs,
  attachmentsUnusedMax,
  mailsPerHourMax,
  ticketsPerHourMax,
} from "../limits.ts";
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
  const ticket = await selectLoggedAt({ ...logged, offset: ticketsPerHourMax, mailed: false }, tx);
  if (ticket) {
    throw quotaOfHourFull({ what: "tickets", max: ticketsPerHourMax, limit: "ticketsPerHourMax" }, { oldest: ticket, now });
  }
  if (!mailed) return;
  const confirmed = await selectLoggedAt({ ...logged, offset: mailsPerHourMax, mailed: true }, tx);
  if (!confirmed) return;
  const quota = { what: "tickets that are confirmed by mail", max: mailsPerHourMax, limit: "mailsPerHourMax" };
  throw quotaOfHourFull(quota, { oldest: confirmed, now });
}

/**
 * Checks whether there is room for `more` files.
 * @throws LimitReachedError when too many files have no ticket; DomainError conflict when the files of tickets are too large
 */
export function requireFileQuota(stored: StoredFiles, { more, now }: { more: number; now: number }): void {
  const wait = { status: 429 as const, retryAfterMs: (stored.oldestUnused?.getTime() ?? now) + attachmentUnusedMs - now };
  if (stored.own + more > attachmentsUnusedMax) {
    const many = `${attachmentsUnusedMax} files without a ticket`;
    throw new LimitReachedError(`Cannot store more than ${many} (attachmentsUnusedMax): try again later`, wait);
  }
  if (stored.unusedBytes > attachmentUnusedBytesMax) {
    const many = `${attachmentUnusedBytesMax} bytes of a workspace's files without a ticket`;
    throw new LimitReachedError(`Cannot store more than ${many} (attachmentUnusedBytesMax): try again later`, wait);
  }
  if (stored.bytes > attachmentStoredBytesMax) {
    throw quotaFull({ what: "bytes of attachments", max: attachmentStoredBytesMax, limit: "attachmentStoredBytesMax" });
  }
}
