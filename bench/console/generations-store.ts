/** The SQL that loads the gateway's side of the console part: people, keys, generations and the ledger that they add up to. */
import type postgres from "postgres";
import { idDigits, rowChance } from "../data/draw.ts";
import type { PreparedKey } from "../data/store.ts";
import * as plan from "./plan.ts";

type Queries = postgres.ISql;

const nanoPerUsd = 1_000_000_000n;
const creditNano = (plan.creditUsd * nanoPerUsd).toString();
/** Prices of 1.00 and 2.00 USD per 1M tokens, in nano-USD per token. */
const cost = "prompt_tokens * 1000::bigint + completion_tokens * 2000::bigint";

export async function insertPeople(sql: Queries): Promise<void> {
  const { members, membersElsewhere, workspaces } = plan;
  await sql`INSERT INTO accounts (email) SELECT 'member-' || n || '@bench.test' FROM generate_series(0, ${members - 1}::integer) AS n`;
  await sql`
    INSERT INTO workspaces (id, name, early_access, spend_limit_nano)
    SELECT 'ws-console-' || n, 'console-' || n, '{routing,own_keys,models_page}', 500000 * ${nanoPerUsd.toString()}::bigint
    FROM generate_series(0, ${workspaces - 1}::integer) AS n`;
  await sql`
    INSERT INTO members (workspace_id, email, role)
    SELECT 'ws-console-' || workspace, 'member-' || n || '@bench.test', 'member'
    FROM generate_series(0, ${workspaces - 1}::integer) AS workspace, generate_series(0, ${members - 1}::integer) AS n
    WHERE workspace = 0 OR n < ${membersElsewhere}`;
  const others = Object.values(plan.viewers).filter(({ role }) => role !== "member");
  for (const { email, role } of others) {
    await sql`INSERT INTO accounts (email) VALUES (${email})`;
    await sql`INSERT INTO members (workspace_id, email, role) SELECT id, ${email}, ${role} FROM workspaces`;
  }
}

/** Inserts the keys in the order of their numbers: those of the large workspace first. */
export async function insertKeys(keys: readonly PreparedKey[], sql: Queries): Promise<void> {
  const column = (read: (key: PreparedKey) => string): string[] => keys.map(read);
  await sql`
    INSERT INTO api_keys (id, workspace_id, owner_email, kind, name, hash, start, last_four, rate_limit_rpm, monthly_spend_limit_nano,
      revoked_at)
    SELECT id, workspace, 'member-' || (number - 1) / 3 % CASE workspace WHEN ${plan.workspaceId(0)} THEN ${plan.owners}::integer
        ELSE ${plan.membersElsewhere}::integer END || '@bench.test',
      'inference', 'service ' || number, decode(hash, 'hex'), start, last_four, ${plan.requestsPerMinute},
      CASE WHEN number % 3 = 0 THEN 5000 * ${nanoPerUsd.toString()}::bigint END,
      CASE WHEN number % ${plan.revokedEvery}::integer = 0 THEN now() END
    FROM unnest(${column((key) => key.id)}::text[], ${column((key) => key.workspace)}::text[], ${column((key) => key.hash)}::text[],
      ${column((key) => key.start)}::text[], ${column((key) => key.lastFour)}::text[])
      WITH ORDINALITY AS key (id, workspace, hash, start, last_four, number)`;
}

/** A credit for each workspace, as entry 1. */
export async function insertCredit(sql: Queries): Promise<void> {
  await sql`INSERT INTO credit_accounts (workspace_id, balance_nano, sequence) SELECT id, ${creditNano}::bigint, 1 FROM workspaces`;
  await sql`
    INSERT INTO ledger_entries (workspace_id, sequence, kind, amount_nano, balance_after_nano, reference, at)
    SELECT id, 1, 'credit', ${creditNano}::bigint, ${creditNano}::bigint, 'bench', now() - ${`${plan.days + 1} days`}::interval
    FROM workspaces`;
}

/** Makes the facts of each generation in the order of time, spread evenly over the days until now. */
export async function makeGenerations(
  { keys, nowMs }: { keys: readonly PreparedKey[]; nowMs: number },
  sql: Queries,
): Promise<void> {
  const callers = await sql<{ caller: string }[]>`
    SELECT caller_id AS caller FROM members WHERE workspace_id = ${plan.workspaceId(0)} ORDER BY email LIMIT ${plan.owners}`;
  const list = (texts: readonly string[]): string => `ARRAY[${texts.map((text) => `'${text}'`).join(", ")}]`;
  const place = (keys: number): string => `floor(${keys} * ${rowChance(2)} ^ 2)::integer`;
  const { large, others } = plan.keys;
  await sql.unsafe(`
    CREATE TEMPORARY TABLE made AS
    SELECT n, at_ms, 'gen-' || ${idDigits} || translate(substr(md5(n::text), 1, 17), '0189', 'wxyz') AS id,
      CASE WHEN key < ${large} THEN '${plan.workspaceId(0)}' ELSE 'ws-console-' || 1 + (key - ${large}) % ${plan.workspaces - 1} END AS workspace_id,
      CASE WHEN is_member THEN (${list(callers.map(({ caller }) => caller))})[1 + n % ${plan.owners}]
        ELSE (${list(keys.map(({ id }) => id))})[1 + key] END AS key_id,
      is_error, 'bench/model-' || model AS model, 20 + n % 4000 AS prompt_tokens,
      CASE WHEN is_error THEN 0 ELSE 1 + n % 500 END AS completion_tokens,
      to_char(to_timestamp(at_ms / 1000.0::float8) AT TIME ZONE 'UTC', 'YYYY-MM') AS month, 0::bigint AS entry, 0::bigint AS cost_nano
    FROM (
      SELECT n, ${nowMs - plan.days * 86_400_000}::bigint + floor(n::float8 / ${plan.generations} * ${plan.days * 86_400_000})::bigint AS at_ms,
        CASE WHEN ${rowChance(1)} < ${plan.largeShare} THEN ${place(large)} ELSE ${large} + ${place(others)} END AS key,
        least(floor(ln(1 - ${rowChance(3)}) / ln(1 - ${plan.modelShare}::float8)), ${plan.models - 1})::integer AS model,
        ${rowChance(4)} < ${plan.errorShare} AS is_error,
        ${rowChance(1)} < ${plan.largeShare} AND ${rowChance(5)} < ${plan.workbenchShare / plan.largeShare} AS is_member
      FROM generate_series(0::bigint, ${plan.generations - 1}::bigint) AS n
    ) AS drawn`);
  await sql.unsafe(`
    CREATE TEMPORARY TABLE entered AS
    SELECT n, workspace_id, key_id, month, at_ms, ${cost} AS cost_nano,
      2 + (row_number() OVER (PARTITION BY workspace_id ORDER BY n) - 1) / 100 AS entry
    FROM made WHERE NOT is_error`);
  await sql`CREATE INDEX ON entered (n)`;
  await sql`ANALYZE entered`;
}

/** Rows `from` to below `to`. The order of time keeps the indexes dense. */
export async function insertGenerations({ from, to }: { from: number; to: number }, sql: Queries): Promise<void> {
  await sql`
    INSERT INTO generations (generation_id, entry, reserved_nano, cost_nano, excess_nano, admitted_at, prompt_tokens, cached_tokens,
      completion_tokens, first_token_ms, duration_ms, status, late, streamed, usage_estimated, cost_pico, outcome, request_id,
      workspace_id, key_id, model, provider, code, booked_at)
    SELECT id, entered.entry, coalesce(entered.cost_nano, 0) + 1000000, coalesce(entered.cost_nano, 0), 0,
      to_timestamp(at_ms / 1000.0::float8), prompt_tokens, 0, completion_tokens, CASE WHEN NOT is_error THEN 200 + n % 300 END,
      500 + n % 3000, CASE WHEN NOT is_error THEN 200 WHEN n % 3 = 0 THEN 429 WHEN n % 3 = 1 THEN 502 ELSE 400 END, false, n % 3 = 0,
      false, coalesce(entered.cost_nano, 0) * 1000::numeric, 'settled', 'req-' || substr(id, 5), workspace_id, key_id, model, 'bench',
      CASE WHEN NOT is_error THEN NULL WHEN n % 3 = 0 THEN 'upstream_rate_limited' WHEN n % 3 = 1 THEN 'upstream_error' ELSE 'invalid_request' END,
      CASE WHEN is_error THEN to_timestamp(at_ms / 1000.0::float8) END
    FROM (SELECT * FROM made WHERE n >= ${from} AND n < ${to}) AS made
    LEFT JOIN (SELECT n, entry, cost_nano FROM entered WHERE n >= ${from} AND n < ${to}) AS entered USING (n)
    ORDER BY n`;
}

/** Continues the chain after the credit, and sets each account to the end of its chain. */
export async function insertEntries(sql: Queries): Promise<void> {
  await sql`
    INSERT INTO ledger_entries (workspace_id, sequence, kind, amount_nano, balance_after_nano, charges, at)
    SELECT workspace_id, entry, 'charge', -sum(cost_nano),
      ${creditNano}::bigint - (sum(sum(cost_nano)) OVER (PARTITION BY workspace_id ORDER BY entry))::bigint, count(*),
      to_timestamp(max(at_ms) / 1000.0::float8)
    FROM entered GROUP BY workspace_id, entry`;
  await sql`
    UPDATE credit_accounts SET sequence = total.entry, balance_nano = ${creditNano}::bigint - total.cost
    FROM (SELECT workspace_id, max(entry) AS entry, sum(cost_nano)::bigint AS cost FROM entered GROUP BY workspace_id) AS total
    WHERE credit_accounts.workspace_id = total.workspace_id`;
  await sql`
    INSERT INTO workspace_months (workspace_id, month, spent_nano)
    SELECT workspace_id, month, sum(cost_nano)::bigint FROM entered GROUP BY workspace_id, month`;
  await sql`
    INSERT INTO key_months (key_id, month, spent_nano, version)
    SELECT key_id, month, sum(cost_nano)::bigint, count(*) FROM entered GROUP BY key_id, month`;
}
