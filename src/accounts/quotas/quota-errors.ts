/** The two errors of a workspace's quotas. */
import { DomainError } from "../errors.ts";
import { quotaHourMs } from "../limits.ts";
import { LimitReachedError } from "./limit-reached.ts";

interface Quota {
  /** Such as `projects`. */
  what: string;
  max: number;
  /** The constant that bounds it. */
  limit: string;
}

/** For a quota that waiting does not free. @param field the field of the request that needs more */
export function quotaFull({ what, max, limit }: Quota, field?: string): DomainError {
  const message = `This workspace has as many ${what} as it can have: ${max} (${limit})`;
  return new DomainError("conflict", message, { field });
}

/** @param oldest the time of the item that must first be an hour old */
export function quotaOfHourFull({ what, max, limit }: Quota, { oldest, now }: { oldest: Date; now: number }): LimitReachedError {
  const message = `This workspace has made ${max} ${what} within the last hour, and cannot make more (${limit}): try again later`;
  return new LimitReachedError(message, { status: 429, retryAfterMs: oldest.getTime() + quotaHourMs - now });
}
