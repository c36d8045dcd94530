/** Reads one ended generation of a key, for whoever holds the key. */
import { FairSemaphore } from "../../accounts/quotas/fair-semaphore.ts";
import type { Database } from "../../backing/backing.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { GenerationId, KeyId } from "../../kernel/ids.ts";
import {
  keyUsageReadsPerKeyMax,
  keyUsageWaitingMax,
  keyUsageWaitingPerKeyMax,
  keyUsageWaitMs,
  keyUsageReadsMax,
} from "../limits.ts";
import { selectGeneration, type GenerationRow } from "./store.ts";

/** @returns null: there is none of this key, or it has not ended @throws LimitReachedError while too many ask; errors of the database */
export type ReadKeyGeneration = (asked: { key: KeyId; generation: GenerationId }) => Promise<GenerationRow | null>;

/** Few at once, like questions about usage: no rate limit counts these. */
export function keyGeneration({ sql, clock }: { sql: Database; clock: Clock }): ReadKeyGeneration {
  const limits = {
    runningMax: keyUsageReadsMax,
    runningPerHolderMax: keyUsageReadsPerKeyMax,
    waitingMax: keyUsageWaitingMax,
    waitingPerHolderMax: keyUsageWaitingPerKeyMax,
    waitMs: keyUsageWaitMs,
  };
  const turns = new FairSemaphore({ clock, limits, busy: "Too many questions about generations at once; try again shortly" });
  return async ({ key, generation }) => {
    const release = await turns.acquire(key);
    try {
      const row = await selectGeneration(generation, sql);
      return row?.key === key ? row : null;
    } finally {
      release();
    }
  };
}
