/** Rolls generations up into sums by quarters of an hour, in the background. Readers are right at any time, and quick up to its bound. */
import type { Database } from "../../backing/backing.ts";
import type { Clock } from "../../kernel/clock.ts";
import { firstGenerationId } from "../../kernel/ids.ts";
import type { Logger } from "../../kernel/log.ts";
import { repeatUntilStopped } from "../../kernel/repeat.ts";
import { usageOpenMs, usageRollUpMs, usageRollUpRowsMax } from "../limits.ts";
import { closeUsage, rollUpNext, sumNextSpans } from "./roll-up-store.ts";

interface RollUpParts {
  sql: Database;
  clock: Clock;
}

/** Once a minute until disposed. */
export function startRollUp({ sql, clock, log }: RollUpParts & { log: Logger }): AsyncDisposable {
  return repeatUntilStopped({
    clock,
    round: (signal) => rollUpUsage({ sql, clock }, { signal }),
    everyMs: usageRollUpMs,
    pauseFirst: true,
    onError: (error) => log.warn({ event: "usage.failed", reason: String(error) }, "Usage could not be rolled up"),
  });
}

/** One round: all generations but the newest, which may still get company. It does nothing while another process rolls up. */
export async function rollUpUsage(
  { sql, clock }: RollUpParts,
  { rowsMax = usageRollUpRowsMax, signal }: { rowsMax?: number; signal?: AbortSignal } = {},
): Promise<void> {
  const openMs = Math.max(0, clock.now() - usageOpenMs);
  if (!(await closeUsage(firstGenerationId(openMs), sql))) return;
  while (!signal?.aborted && (await rollUpNext(rowsMax, sql)));
  const quarters = Math.floor(openMs / sixHoursMs) * quartersOfSixHours;
  while (!signal?.aborted && (await sumNextSpans(quarters, sql)));
}

const sixHoursMs = 6 * 3_600_000;
const quartersOfSixHours = 24;
