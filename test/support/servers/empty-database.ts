/** Empties a migrated database for the next test, which costs a tenth of creating another one. */
import { type Database, allowLocks, allowStatements } from "../../../src/backing/backing.ts";

const emptyMsMax = 60_000;

/** Tables, constraints, triggers with their state, and functions: tests may alter them. Partitions are made as they are needed. */
const fingerprint = `
  SELECT md5(string_agg(part, ' ' ORDER BY part)) AS digest FROM (
    SELECT relname || relkind::text FROM pg_class WHERE relnamespace = 'public'::regnamespace AND NOT relispartition
    UNION ALL SELECT conname || relname FROM pg_constraint JOIN pg_class ON pg_class.oid = conrelid
      WHERE connamespace = 'public'::regnamespace AND NOT relispartition
    UNION ALL SELECT tgname || tgenabled::text FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid
      WHERE NOT tgisinternal AND NOT relispartition
    UNION ALL SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace
  ) AS parts (part)`;

/**
 * Without triggers, since some tables refuse to be emptied. To truncate even one table costs ten times what deleting from all of them
 * does, so only analyzed tables are truncated: the planner would go on with their statistics.
 */
const emptying = `
  DO $$
  DECLARE
    of_table record;
    analyzed text[] := '{}';
  BEGIN
    SET LOCAL session_replication_role = replica;
    FOR of_table IN SELECT quote_ident(relname) AS name, EXISTS (
        SELECT FROM pg_class AS part WHERE part.reltuples > 0
          AND (part.oid = pg_class.oid OR part.oid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = pg_class.oid))
      ) AS is_analyzed
      FROM pg_class
      WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition AND relname <> 'migrations'
    LOOP
      IF of_table.is_analyzed THEN analyzed := analyzed || of_table.name; ELSE EXECUTE 'DELETE FROM ' || of_table.name; END IF;
    END LOOP;
    IF analyzed <> '{}' THEN EXECUTE 'TRUNCATE ' || array_to_string(analyzed, ', ') || ' CASCADE'; END IF;
    FOR of_table IN SELECT quote_ident(sequencename) AS name FROM pg_sequences WHERE schemaname = 'public' AND last_value IS NOT NULL
    LOOP
      EXECUTE 'ALTER SEQUENCE ' || of_table.name || ' RESTART';
    END LOOP;
  END $$`;

/** Which schema the database has, by names. */
export async function schemaDigest(sql: Database): Promise<string> {
  const [row] = await sql.unsafe<{ digest: string }[]>(fingerprint);
  return row?.digest ?? "";
}

/** Deletes all rows and restarts all sequences. After a large test, on a busy machine, that takes longer than the service allows a statement. */
export async function emptyDatabase(sql: Database): Promise<void> {
  await sql.begin(async (tx) => {
    await allowStatements(emptyMsMax, tx);
    await allowLocks(emptyMsMax, tx);
    await tx.unsafe(emptying).simple();
  });
}
