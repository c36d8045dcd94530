import type { Queries } from "../../../src/backing/backing.ts";
import { until } from "../until.ts";

/** Resolves when a statement waits for a lock in this database: other tests share the server, and wait for locks of their own. */
export function waitsForLock(sql: Queries): Promise<void> {
  return until(
    async () =>
      (await sql`SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`).length > 0,
  );
}
