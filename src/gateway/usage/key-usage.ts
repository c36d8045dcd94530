/** Sums what one key used, for whoever holds it. */
import { FairSemaphore } from "../../accounts/quotas/fair-semaphore.ts";
import type { Database } from "../../backing/backing.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { KeyId, WorkspaceId } from "../../kernel/ids.ts";
import {
  keyUsageReadsMax,
  keyUsageReadsPerKeyMax,
  keyUsageWaitingMax,
  keyUsageWaitingPerKeyMax,
  keyUsageWaitMs,
} from "../limits.ts";
import { readUsage } from "./read.ts";
import type { UsageView } from "./schema.ts";
import type { UsageFields } from "./span.ts";

/** @throws DomainError invalid_field; LimitReachedError while too many ask; errors of the database */
export type ReadKeyUsage = (asked: { workspace: WorkspaceId; key: KeyId; fields: UsageFields }) => Promise<UsageView>;

/** Few at once, since no rate limit counts these questions. */
export function keyUsage(sources: { sql: Database; clock: Clock }): ReadKeyUsage {
  const limits = {
    runningMax: keyUsageReadsMax,
    runningPerHolderMax: keyUsageReadsPerKeyMax,
    waitingMax: keyUsageWaitingMax,
    waitingPerHolderMax: keyUsageWaitingPerKeyMax,
    waitMs: keyUsageWaitMs,
  };
  const turns = new FairSemaphore({
    clock: sources.clock,
    limits,
    busy: "Too many questions about usage at once; try again shortly",
  });
  return async ({ workspace, key, fields }) => {
    const release = await turns.acquire(key);
    try {
      return await readUsage({ workspace, keys: [key], model: null, fields }, sources);
    } finally {
      release();
    }
  };
}
