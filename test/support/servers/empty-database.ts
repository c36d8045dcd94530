/** Empties a migrated database for the next test, which costs a tenth of creating another one. */
import type { Database } from "../../../src/backing/backing.ts";

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

/** Without triggers, since some tables refuse to be emptied. Only tables with rows are truncated: to truncate all is slow. */
const emptying = `
  DO $$
  DECLARE
    name text;
    has_rows boolean;
    filled text[] := '{}';
  BEGIN
    SET LOCAL session_replication_role = replica;
    FOR name IN SELECT relname FROM pg_class
      WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition AND relname <> 'migrations'
    LOOP
      EXECUTE format('SELECT EXISTS (SELECT FROM %I)', name) INTO has_rows;
      IF has_rows THEN filled := filled || quote_ident(name); END IF;
    END LOOP;
    IF filled <> '{}' THEN EXECUTE 'TRUNCATE ' || array_to_string(filled, ', ') || ' CASCADE'; END IF;
    FOR name IN SELECT quote_ident(sequencename) FROM pg_sequences WHERE schemaname = 'public' AND last_value IS NOT NULL
    LOOP
      EXECUTE 'ALTER SEQUENCE ' || name || ' RESTART';
    END LOOP;
  END $$`;

/** Which schema the database has, by names. */
export async function schemaDigest(sql: Database): Promise<string> {
  const [row] = await sql.unsafe<{ digest: string }[]>(fingerprint);
  return row?.digest ?? "";
}

/** Deletes all rows and restarts all sequences. */
export async function emptyDatabase(sql: Database): Promise<void> {
  await sql.unsafe(emptying).simple();
}
