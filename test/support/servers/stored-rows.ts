/** How much a database contains: a refusal must not change it. */
import type { Database } from "../../../src/backing/backing.ts";

/** The row count of each non-empty table. */
export async function storedRows(sql: Database): Promise<Record<string, number>> {
  const tables = await sql<{ name: string }[]>`
    SELECT relname AS name FROM pg_class
    WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY relname`;
  const [first, ...others] = tables.map(({ name }) => sql`SELECT ${name} AS name, count(*)::bigint AS rows FROM ${sql(name)}`);
  if (first === undefined) throw new Error("The database has no tables");
  const counts = await sql<{ name: string; rows: bigint }[]>`
    ${others.reduce((all, one) => sql`${all} UNION ALL ${one}`, first)}`;
  return Object.fromEntries(counts.filter(({ rows }) => rows > 0n).map(({ name, rows }) => [name, Number(rows)]));
}
