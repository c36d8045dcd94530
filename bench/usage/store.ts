/** All SQL of the usage part: fills `generations` by set-based statements, and sums them without what is rolled up. */
import type postgres from "postgres";
import { idDigits, rowChance } from "../data/draw.ts";
import * as plan from "./plan.ts";

type Queries = postgres.ISql;

export async function insertCustomers(sql: Queries): Promise<void> {
  const { workspaces, members, keys } = plan;
  await sql`INSERT INTO accounts (email) SELECT 'member-' || n || '@bench.test' FROM generate_series(0, ${members - 1}::integer) AS n`;
  await sql`INSERT INTO workspaces (id, name) SELECT 'ws-usage-' || n, 'usage ' || n FROM generate_series(0, ${workspaces - 1}::integer) AS n`;
  await sql`
    INSERT INTO members (workspace_id, email, role)
    SELECT ${plan.workspaceId(0)}, email, 'member' FROM accounts UNION ALL
    SELECT id, ${plan.memberEmail(0)}, 'member' FROM workspaces WHERE id <> ${plan.workspaceId(0)}`;
  await sql`
    INSERT INTO api_keys (id, workspace_id, owner_email, kind, name, hash, start)
    SELECT 'key-usage-' || n, CASE WHEN n < ${keys.large} THEN ${plan.workspaceId(0)} ELSE 'ws-usage-' || 1 + n % ${workspaces - 1}::integer END,
      CASE WHEN n < ${keys.large} THEN 'member-' || n % ${members}::integer || '@bench.test' ELSE ${plan.memberEmail(0)} END,
      'inference', 'bench ' || n, decode(md5(n::text) || md5('a' || n), 'hex'), 'bench'
    FROM generate_series(0, ${keys.large + keys.others - 1}::integer) AS n`;
}

export async function loadedGenerations(sql: Queries): Promise<number> {
  const [row] = await sql<{ n: string }[]>`
    SELECT coalesce(max(request_id), 'req--1') AS n FROM (SELECT request_id FROM generations ORDER BY generation_id DESC LIMIT 1) AS newest`;
  return Number(row?.n.slice("req-".length) ?? -1) + 1;
}

/** Rows `from` to below `to`, in the order of time, spread evenly over the months. */
export async function insertGenerations({ from, to }: { from: number; to: number }, sql: Queries): Promise<void> {
  const { keys, workspaces, members } = plan;
  const starts = plan.monthStarts();
  const [first = 0, end = 0] = [starts[0], starts.at(-1)];
  const callers = await sql<{ caller: string }[]>`
    SELECT caller_id AS caller FROM members WHERE workspace_id = ${plan.workspaceId(0)} ORDER BY email LIMIT ${members}`;
  const list = callers.map(({ caller }) => `'${caller}'`).join(", ");
  await sql.unsafe(`
    INSERT INTO generations (generation_id, entry, reserved_nano, cost_nano, excess_nano, admitted_at, prompt_tokens, cached_tokens,
      completion_tokens, first_token_ms, duration_ms, status, late, streamed, usage_estimated, cost_pico, outcome, request_id,
      workspace_id, key_id, model, provider, endpoint, code)
    SELECT 'gen-' || ${idDigits} || translate(substr(md5(n::text), 1, 17), '0189', 'wxyz'), 2, cost_nano + 1000000, cost_nano, 0,
      to_timestamp(at_ms / 1000.0::float8), 20 + n % 500, 0, 1 + n % 200, 200 + n % 300 * (1 + n % 7), 500 + n % 3000,
      CASE WHEN is_error THEN 502 ELSE 200 END, false, n % 3 = 0, false, cost_nano * 1000::numeric, 'settled', 'req-' || n,
      CASE WHEN key < ${keys.large} THEN '${plan.workspaceId(0)}' ELSE 'ws-usage-' || 1 + key % ${workspaces - 1} END,
      CASE WHEN key < ${keys.large} AND is_member THEN (ARRAY[${list}])[1 + n % ${members}] ELSE 'key-usage-' || key END,
      'bench/model-' || model, 'provider-' || model % ${plan.providers}, CASE WHEN model >= ${plan.embeddingsFrom} THEN 'embeddings' END,
      CASE WHEN is_error THEN (ARRAY['upstream_error', 'upstream_timeout', 'client_gone'])[1 + n % 3] END
    FROM (
      SELECT n, ${first}::bigint + floor(n::float8 / ${plan.generations} * ${end - first})::bigint AS at_ms,
        CASE WHEN ${rowChance(1)} < ${plan.largeShare} THEN floor(${keys.large} * ${rowChance(2)} ^ 2)::integer
          ELSE ${keys.large} + floor(${keys.others} * ${rowChance(2)})::integer END AS key,
        least(floor(ln(1 - ${rowChance(3)}) / ln(1 - ${plan.modelShare}::float8)), ${plan.models - 1})::integer AS model,
        ${rowChance(4)} < ${plan.errorShare} AS is_error, ${rowChance(5)} < ${plan.workbenchShare} AS is_member,
        CASE WHEN ${rowChance(4)} < ${plan.errorShare} THEN 0 ELSE (20 + n % 500) * 1000 + (1 + n % 200) * 2000 END AS cost_nano
      FROM generate_series(${from}::bigint, ${to - 1}::bigint) AS n
    ) AS drawn ORDER BY at_ms`);
}

export interface NaiveQuestion {
  workspace: string;
  /** null: any. */
  keys: string[] | null;
  fromMs: number;
  toMs: number;
}

/** Counts every generation of the time. @returns requests and charges, in nano-USD */
export async function usageNaively(
  { workspace, keys, fromMs, toMs }: NaiveQuestion,
  sql: Queries,
): Promise<{ requests: string; charge: string }> {
  const [row] = await sql<{ requests: string; charge: string }[]>`
    SELECT count(*) AS requests, coalesce(sum(cost_nano), 0) AS charge FROM generations
    WHERE workspace_id = ${workspace} AND admitted_at >= to_timestamp(${fromMs} / 1000.0::float8) AND admitted_at < to_timestamp(${toMs} / 1000.0::float8)
      ${keys === null ? sql`` : sql`AND key_id = ANY(${keys}::text[])`}`;
  return row ?? { requests: "0", charge: "0" };
}
