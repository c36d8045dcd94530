/** Notices the empty database of a fleet's first start, which a gateway or `weir migrate` fills in one transaction. */
import { sleep, withDeadline, type Clock } from "../kernel/clock.ts";
import type { Logger } from "../kernel/log.ts";
import type { Database } from "./backing.ts";
import { schemaLookMs, schemaLookMsMax } from "./limits.ts";

/** @returns false also when the database does not answer */
export async function isWithoutSchema(sql: Database, clock: Clock): Promise<boolean> {
  const look = sql<{ empty: boolean }[]>`SELECT to_regclass('migrations') IS NULL AS empty`;
  try {
    const [row] = await withDeadline(clock, schemaLookMsMax, "The database's answer", look);
    return row?.empty ?? false;
  } catch {
    return false;
  }
}

/**
 * Resolves when the database has a schema, and at once while it does not answer: the parts of a process try again by themselves.
 * @param signal ends the wait
 */
export async function untilSchema(
  { sql, clock, log }: { sql: Database; clock: Clock; log: Logger },
  signal: AbortSignal,
): Promise<void> {
  for (let looks = 0; !signal.aborted && (await isWithoutSchema(sql, clock)); looks++) {
    if (looks === 0) log.info({ event: "schema.awaited" }, "The database is empty: waiting for a gateway to make its tables");
    await sleep(clock, schemaLookMs, signal);
  }
}
