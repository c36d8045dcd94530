/**
 * Limits how often per hour a workspace may do what reaches other people or services. An act is counted before it is done, so that many at
 * once do not get around the limit. A count in a transaction counts only if that commits.
 */
import type { Queries } from "../../backing/backing.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { quotaHourMs } from "../limits.ts";
import { LimitReachedError } from "../errors.ts";
import { insertAct } from "./store.ts";

interface HourlyAct {
  workspace: WorkspaceId;
  /** What is counted, such as `tests of connections`. */
  act: string;
  max: number;
}

/**
 * Counts one act. Within a transaction, call it last, because others of the workspace wait for it.
 * @throws LimitReachedError 429, with the time until the oldest act is an hour old
 */
export async function countAct(
  { workspace, act, max }: HourlyAct,
  { sql, clock }: { sql: Queries; clock: Clock },
): Promise<void> {
  const nowMs = clock.now();
  const counted = await insertAct({ workspace, act, max, at: new Date(nowMs), over: new Date(nowMs - quotaHourMs) }, sql);
  if (counted === null) return;
  const retryAfterMs = Math.max(1, counted.oldest.getTime() + quotaHourMs - nowMs);
  const minutes = Math.ceil(retryAfterMs / 60_000);
  const message = `This workspace has made ${max} ${act} within the last hour: try again in ${minutes} ${minutes === 1 ? "minute" : "minutes"}`;
  throw new LimitReachedError(message, { status: 429, retryAfterMs });
}
