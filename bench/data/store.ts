/** All SQL of the bench: fills a database with settled generations by set-based statements, and copies it. */
import type postgres from "postgres";
import { creditUsd, requestsPerMinute, type Population } from "./plan.ts";

type Sql = postgres.Sql;
type Queries = postgres.ISql;

const nanoPerUsd = 1_000_000_000n;
/** Prices of 1.00 and 2.00 USD per 1M tokens, in nano-USD per token. */
const inputNano = 1_000;
const outputNano = 2_000;
const email = "owner@bench.test";

export interface PreparedKey {
  id: string;
  workspace: string;
  /** SHA-256 in hexadecimal. */
  hash: string;
  start: string;
  lastFour: string;
}

export async function databaseExists(name: string, sql: Queries): Promise<boolean> {
  return (await sql`SELECT 1 FROM pg_database WHERE datname = ${name}`).length > 0;
}

export async function dropDatabases(like: string, keep: string, sql: Sql): Promise<void> {
  const found = await sql<{ datname: string }[]>`
    SELECT datname FROM pg_database WHERE datname LIKE ${like} AND datname <> ${keep}`;
  for (const { datname } of found) await sql`DROP DATABASE IF EXISTS ${sql(datname)} WITH (FORCE)`;
}

export async function createDatabase(name: string, sql: Sql): Promise<void> {
  await sql`CREATE DATABASE ${sql(name)}`;
}

export async function renameDatabase(from: string, to: string, sql: Sql): Promise<void> {
  await sql`ALTER DATABASE ${sql(from)} RENAME TO ${sql(to)}`;
}

/** Copies files, which takes seconds where loading takes minutes. */
export async function copyDatabase({ from, to }: { from: string; to: string }, sql: Sql): Promise<void> {
  await sql`DROP DATABASE IF EXISTS ${sql(to)} WITH (FORCE)`;
  await sql`CREATE DATABASE ${sql(to)} TEMPLATE ${sql(from)} STRATEGY file_copy`;
}

/** Makes a checkpoint, so that no contender pays for the writes of another. */
export async function checkpoint(sql: Queries): Promise<void> {
  await sql`CHECKPOINT`;
}

/** The size of a database on disk, and the position of its server's write-ahead log. */
export interface Stored {
  databaseBytes: number;
  logBytes: number;
}

export async function readStored(sql: Queries): Promise<Stored> {
  const [row] = await sql<{ database: string; log: string }[]>`
    SELECT pg_database_size(current_database()) AS database, pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') AS log`;
  return { databaseBytes: Number(row?.database), logBytes: Number(row?.log) };
}

/** Inserts workspaces with their credit as entry 1, one owner, and the keys. */
export async function insertCustomers({ name, keys }: { name: string; keys: PreparedKey[] }, sql: Queries): Promise<void> {
  const ids = [...new Set(keys.map((key) => key.workspace))];
  const credit = (creditUsd * nanoPerUsd).toString();
  await sql`INSERT INTO accounts (email) VALUES (${email}) ON CONFLICT DO NOTHING`;
  await sql`INSERT INTO workspaces (id, name) SELECT id, ${name} || ' ' || id FROM unnest(${ids}::text[]) AS id`;
  await sql`INSERT INTO members (workspace_id, email, role) SELECT id, ${email}, 'super_admin' FROM unnest(${ids}::text[]) AS id`;
  await sql`INSERT INTO credit_accounts (workspace_id) SELECT unnest(${ids}::text[])`;
  await sql`
    INSERT INTO ledger_entries (workspace_id, sequence, kind, amount_nano, balance_after_nano, reference)
    SELECT id, 1, 'credit', ${credit}::bigint, ${credit}::bigint, 'bench' FROM unnest(${ids}::text[]) AS id`;
  const column = (read: (key: PreparedKey) => string): string[] => keys.map(read);
  await sql`
    INSERT INTO api_keys (id, workspace_id, owner_email, kind, name, hash, start, last_four, rate_limit_rpm)
    SELECT id, workspace, ${email}, 'inference', 'bench', decode(hash, 'hex'), start, last_four, ${requestsPerMinute}
    FROM unnest(${column((key) => key.id)}::text[], ${column((key) => key.workspace)}::text[], ${column((key) => key.hash)}::text[],
      ${column((key) => key.start)}::text[], ${column((key) => key.lastFour)}::text[]) AS key (id, workspace, hash, start, last_four)`;
}

/** Sets each account to its credit, where nothing was charged. */
export async function setHeadsToCredit(sql: Queries): Promise<void> {
  await sql`UPDATE credit_accounts SET sequence = 1, balance_nano = ${(creditUsd * nanoPerUsd).toString()}::bigint`;
}

/**
 * Makes the facts of each generation in order of time, spread evenly over the keys and over the month until six hours of the day last
 * ended: what began later would be added to the long spans of usage while something is measured.
 */
export async function makeGenerations(population: Population, keys: PreparedKey[], sql: Queries): Promise<void> {
  await sql`DROP TABLE IF EXISTS made`;
  await sql`
    CREATE TEMPORARY TABLE made AS
    WITH key AS (
      SELECT * FROM unnest(${keys.map((key) => key.id)}::text[], ${keys.map((key) => key.workspace)}::text[])
        WITH ORDINALITY AS key (key_id, workspace_id, number)
    ), begun AS (
      SELECT date_trunc('month', now(), 'UTC') AS month, date_bin('6 hours', now(), '2000-01-01T00:00:00Z') AS six_hours
    ), numbered AS (
      SELECT n, month + (CASE WHEN six_hours > month THEN six_hours ELSE now() END - month) * ((n - 1)::float8 / ${population.generations}) AS at,
        20 + n % 500 AS prompt_tokens, 1 + n % 200 AS completion_tokens
      FROM begun CROSS JOIN generate_series(1, ${population.generations}::bigint) AS n
    ), timed AS (
      SELECT *, floor(extract(epoch FROM at) * 1000)::bigint AS at_ms, md5(${population.name} || n) AS chance FROM numbered
    )
    SELECT n, at, workspace_id, key_id, 2 + (row_number() OVER (PARTITION BY workspace_id ORDER BY n) - 1) / 100 AS entry, prompt_tokens, completion_tokens,
      to_char(at AT TIME ZONE 'UTC', 'YYYY-MM') AS month,
      prompt_tokens * ${inputNano}::bigint + completion_tokens * ${outputNano}::bigint AS cost_nano,
      (SELECT string_agg(substr('234567abcdefghijklmnopqrstuvwxyz', ((at_ms >> (5 * digit)) & 31)::integer + 1, 1), '' ORDER BY digit DESC)
        FROM generate_series(0, 8) AS digit) || translate(substr(chance, 1, 17), '0189', 'wxyz') AS name
    FROM timed JOIN key ON key.number = timed.n % ${keys.length} + 1`;
}

/** One entry for each hundred charges of a workspace, as metering books them under load, after the credit. */
export async function insertGenerations(sql: Queries): Promise<void> {
  await sql`
    INSERT INTO generations (generation_id, entry, reserved_nano, cost_nano, excess_nano, admitted_at, prompt_tokens, cached_tokens,
      completion_tokens, first_token_ms, duration_ms, status, late, streamed, usage_estimated, cost_pico, outcome, request_id,
      workspace_id, key_id, model, provider)
    SELECT 'gen-' || name, entry, cost_nano + 1000000, cost_nano, 0, at, prompt_tokens, 0, completion_tokens, 200 + n % 300,
      500 + n % 3000, 200, false, n % 2 = 0, false, cost_nano * 1000::numeric, 'settled', 'req-' || name, workspace_id, key_id,
      'bench/instant-16', 'bench'
    FROM made ORDER BY n`;
}

/** Continues the chain after the credit, and sets each account to the end of its chain. */
export async function insertEntries(sql: Queries): Promise<void> {
  const credit = (creditUsd * nanoPerUsd).toString();
  await sql`
    INSERT INTO ledger_entries (workspace_id, sequence, kind, amount_nano, balance_after_nano, charges, at)
    SELECT workspace_id, entry, 'charge', -sum(cost_nano),
      ${credit}::bigint - (sum(sum(cost_nano)) OVER (PARTITION BY workspace_id ORDER BY entry))::bigint, count(*), max(at)
    FROM made GROUP BY workspace_id, entry`;
  await sql`
    UPDATE credit_accounts SET sequence = total.entry, balance_nano = ${credit}::bigint - total.cost
    FROM (SELECT workspace_id, max(entry) AS entry, sum(cost_nano)::bigint AS cost FROM made GROUP BY workspace_id) AS total
    WHERE credit_accounts.workspace_id = total.workspace_id`;
}

export async function insertTotals(sql: Queries): Promise<void> {
  await sql`
    INSERT INTO workspace_months (workspace_id, month, spent_nano)
    SELECT workspace_id, month, sum(cost_nano)::bigint FROM made GROUP BY workspace_id, month`;
  await sql`
    INSERT INTO key_months (key_id, month, spent_nano, version)
    SELECT key_id, month, sum(cost_nano)::bigint, count(*) FROM made GROUP BY key_id, month`;
}

/** Brings the database into the state of one that has run for long. */
export async function tidy(sql: Queries): Promise<void> {
  await sql`VACUUM (ANALYZE, FREEZE)`;
  await sql`CHECKPOINT`;
}
