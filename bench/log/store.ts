/** All SQL of the log part: fills `generations` by set-based statements. */
import type postgres from "postgres";
import { idDigits, rowChance } from "../data/draw.ts";
import * as plan from "./plan.ts";

type Queries = postgres.ISql;

/** The first milliseconds of the months of the data, oldest first, and of the month after them. */
export function monthStarts(): number[] {
  return Array.from({ length: plan.months + 1 }, (_, n) => Date.UTC(2026, n - 2, 1));
}

export async function insertCustomers(sql: Queries): Promise<void> {
  await sql`INSERT INTO accounts (email) SELECT 'member-' || n || '@bench.test' FROM generate_series(0, ${plan.membersOfLarge - 1}::integer) AS n`;
  await sql`INSERT INTO workspaces (id, name) SELECT 'ws-log-' || n, 'log ' || n FROM generate_series(0, ${plan.workspaces - 1}::integer) AS n`;
  await sql`
    INSERT INTO members (workspace_id, email, role)
    SELECT ${plan.large}, email, 'member' FROM accounts UNION ALL
    SELECT id, ${plan.member(0)}, 'member' FROM workspaces WHERE id <> ${plan.large}`;
  await sql`
    INSERT INTO api_keys (id, workspace_id, owner_email, kind, name, hash, start)
    SELECT 'key-log-' || n, CASE WHEN n < ${plan.keys.large} THEN ${plan.large} ELSE 'ws-log-' || 1 + n % ${plan.workspaces - 1}::integer END,
      CASE WHEN n < ${plan.keys.large} THEN 'member-' || n % ${plan.membersOfLarge}::integer || '@bench.test' ELSE ${plan.member(0)} END,
      'inference', 'bench', decode(md5(n::text) || md5('a' || n), 'hex'), 'bench'
    FROM generate_series(0, ${plan.keys.large + plan.keys.others - 1}::integer) AS n`;
}

export async function loadedGenerations(sql: Queries): Promise<number> {
  const [row] = await sql<{ n: string }[]>`SELECT coalesce(max(request_id), 'req-0') AS n FROM (
    SELECT request_id FROM generations ORDER BY generation_id DESC LIMIT 1) AS newest`;
  return Number(row?.n.slice("req-".length) ?? 0);
}

/** Rows `from` to below `to`, in the order of time, spread evenly over the months. Every second is of the large workspace. */
export async function insertGenerations({ from, to }: { from: number; to: number }, sql: Queries): Promise<void> {
  const starts = monthStarts();
  const [first = 0, end = 0] = [starts[0], starts.at(-1)];
  const model = `least(floor(ln(1 - ${rowChance(1)}) / ln(1 - ${plan.modelShare}::float8)), ${plan.models - 1})::integer`;
  const key = `CASE WHEN n % 2 = 0 THEN floor(${plan.keys.large} * ${rowChance(2)} ^ 3)
    ELSE ${plan.keys.large} + floor(${plan.keys.others} * ${rowChance(3)}) END::integer`;
  await sql.unsafe(`
    INSERT INTO generations (generation_id, reserved_nano, cost_nano, excess_nano, admitted_at, prompt_tokens, cached_tokens,
      completion_tokens, first_token_ms, duration_ms, status, late, streamed, usage_estimated, cost_pico, outcome, request_id,
      workspace_id, key_id, model, provider)
    SELECT 'gen-' || ${idDigits} || translate(substr(md5(n::text), 1, 17), '0189', 'wxyz'), 1000000, 0, 0,
      to_timestamp(at_ms / 1000.0::float8), 20 + n % 500, 0, 1 + n % 200, 200 + n % 300, 500 + n % 3000, 200, false, n % 3 = 0, false, 0,
      'settled', 'req-' || n, CASE WHEN key < ${plan.keys.large} THEN '${plan.large}' ELSE 'ws-log-' || 1 + key % ${plan.workspaces - 1} END,
      'key-log-' || key, 'bench/model-' || model, 'bench'
    FROM (
      SELECT n, ${first}::bigint + floor(n::float8 / ${plan.generations} * ${end - first})::bigint AS at_ms, ${key} AS key, ${model} AS model
      FROM generate_series(${from}::bigint, ${to - 1}::bigint) AS n
    ) AS drawn ORDER BY at_ms`);
}
