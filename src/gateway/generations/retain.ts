/**
 * `log retain`: deletes whole months of generations, and keeps their sums. Each month is one partition, deleted in one transaction, so an
 * interruption leaves whole months. Repeating the call does nothing. A month whose usage is still being summed is refused; one in use is
 * waited for, briefly.
 */
import { Type, type Static } from "@sinclair/typebox";
import { type Actor, authorize, operatorOnly } from "../../accounts/audit/actor.ts";
import { change, changedFields } from "../../accounts/audit/change.ts";
import { DomainError } from "../../accounts/errors.ts";
import { type Database, allowLocks, allowStatements } from "../../backing/backing.ts";
import { monthOf, previousMonth, sleep, type Clock, type Month } from "../../kernel/clock.ts";
import { errorCode } from "../../kernel/error-code.ts";
import { rollUpUsage } from "../usage/roll-up.ts";
import { retainAttemptsMax, retainLockMs, retainRetryMs, retainStatementMsMax } from "../limits.ts";
import { retainMonth, selectMonths, type RetainedMonth } from "./retain-store.ts";

const RetainedMonthView = Type.Object({
  month: Type.String({ description: "The month, in UTC, such as 2026-11" }),
  generations: Type.Integer({ description: "Generations whose rows were deleted" }),
  bytes: Type.Integer({ description: "The size of these rows and their indexes on the disk" }),
});

export const RetentionView = Type.Object({
  months: Type.Array(RetainedMonthView, { description: "The deleted months, oldest first" }),
});
export type RetentionView = Static<typeof RetentionView>;

interface RetainSources {
  sql: Database;
  clock: Clock;
}

/**
 * Keeps this month and this many before it. Each older month is deleted in its own transaction; repeating the call does nothing.
 * @throws DomainError conflict while usage of a month is still being summed; unavailable when a month stays in use: the months before it
 *   are deleted
 */
export async function retainLog(
  { actor, months, onRetained }: { actor: Actor; months: number; onRetained?: (month: RetainedMonth) => void },
  sources: RetainSources,
): Promise<RetentionView> {
  authorize(actor, { roles: operatorOnly, action: "delete months of the log" });
  const oldestKept = monthBefore(monthOf(sources.clock.now()), months);
  await rollUpUsage(sources);
  const retained: RetainedMonth[] = [];
  for (const month of await selectMonths(sources.sql)) {
    if (month >= oldestKept) break;
    const deleted = await retainWhenFree({ actor, month }, sources);
    retained.push(deleted);
    onRetained?.(deleted);
  }
  return { months: retained };
}

function monthBefore(month: Month, count: number): Month {
  return count === 0 ? month : monthBefore(previousMonth(month), count - 1);
}

/** A late settlement or a reader may hold the month for a moment. */
async function retainWhenFree({ actor, month }: { actor: Actor; month: Month }, sources: RetainSources): Promise<RetainedMonth> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await change(actor, sources, async (tx) => {
        await allowStatements(retainStatementMsMax, tx);
        await allowLocks(retainLockMs, tx);
        const result = await retainMonth(month, tx);
        const changes = changedFields({ before: { generations: result.generations }, after: { generations: 0 } });
        return { result, event: { event: "log.retained", workspace: null, target: month, changes } };
      });
    } catch (error) {
      if (!isLocked(error)) throw error;
      if (attempt === retainAttemptsMax)
        throw new DomainError("unavailable", `Cannot delete ${month}: its rows are in use; try again later`, { cause: error });
      await sleep(sources.clock, retainRetryMs);
    }
  }
}

/** SQLSTATE of a lock that was not free in time, and of a deadlock, by PostgreSQL's appendix A. */
function isLocked(error: unknown): boolean {
  return ["55P03", "40P01"].includes(errorCode(error));
}
