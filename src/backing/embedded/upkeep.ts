/**
 * The work of PostgreSQL's background processes, which PGlite lacks: checkpoints, so that the write-ahead log and with it the next
 * start after a kill stay short; vacuum and statistics, so that tables stay small and plans good.
 */
import type { Clock } from "../../kernel/clock.ts";
import type { Logger } from "../../kernel/log.ts";
import { repeatUntilStopped } from "../../kernel/repeat.ts";
import { upkeepMs, upkeepWalBytesMax } from "../limits.ts";
import type { Database } from "../backing.ts";

/** Runs until disposed; disposing waits for the current round. */
export function startUpkeep({ sql, clock, log }: { sql: Database; clock: Clock; log: Logger }): AsyncDisposable {
  return repeatUntilStopped({
    clock,
    round: () => keepUp(sql),
    everyMs: upkeepMs,
    pauseFirst: true,
    onError: (error) => log.warn({ event: "database.upkeep.failed", reason: String(error) }),
  });
}

/** One round: a checkpoint if enough was written since the last one, and a vacuum of the table that needs it most. */
export async function keepUp(sql: Database): Promise<void> {
  const [wal] = await sql<{ bytes: bigint }[]>`
    SELECT (pg_current_wal_insert_lsn() - redo_lsn)::bigint AS bytes FROM pg_control_checkpoint()`;
  if (wal && wal.bytes > upkeepWalBytesMax) await sql.unsafe("CHECKPOINT");
  // The thresholds are those of autovacuum, with a larger minimum.
  const [table] = await sql<{ name: string; dead: boolean }[]>`
    SELECT relname AS name, n_dead_tup > 1000 + 0.2 * n_live_tup AS dead FROM pg_stat_user_tables
    WHERE n_dead_tup > 1000 + 0.2 * n_live_tup OR n_mod_since_analyze > 1000 + 0.1 * n_live_tup
    ORDER BY n_dead_tup DESC, n_mod_since_analyze DESC LIMIT 1`;
  if (table) await sql.unsafe(`${table.dead ? "VACUUM (ANALYZE)" : "ANALYZE"} "${table.name}"`);
}
