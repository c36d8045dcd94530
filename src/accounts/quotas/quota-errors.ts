/** The two ways in which a workspace's quota refuses. */
import { DomainError } from "../errors.ts";
import { quotaHourMs } from "../limits.ts";
import { LimitReachedError } from "./limit-reached.ts";

interface Quota {
  /** Such as `projects`. */
  what: string;
  max: number;
  /** Its name in docs/limits.md. */
  limit: string;
}

/** Waiting does not help: something has to be changed. @param field the field that asks for more */
export function quotaFull({ what, max, limit }: Quota, field?: string): DomainError {
  const message = `This workspace has as many ${what} as it can have: ${max} (${limit})`;
  return new DomainError("conflict", message, { field });
}

/** @param oldest when the one was made that has to be an hour old first */
export function quotaOfHourFull({ what, max, limit }: Quota, { oldest, now }: { oldest: Date; now: number }): LimitReachedError {
  const message = `This workspace has made ${max} ${what} within the last hour, and cannot make more (${limit}): try again later`;
  return new LimitReachedError(message, { status: 429, retryAfterMs: oldest.getTime() + quotaHourMs - now });
}
