/**
 * The SQL of keys. Admission reads the records of many keys in one statement, with one index look-up each; the time of a look-up by hash
 * reveals nothing about the key. A key is inserted while the workspace's switch and the owner's membership are locked, so neither changes
 * meanwhile.
 */
import { type Role, writers } from "../audit/actor.ts";
import type { Queries, Transaction } from "../../backing/backing.ts";
import { arrayText } from "../../backing/sql-text.ts";
import { dayOf, monthOf, type Month } from "../../kernel/clock.ts";
import type { KeyId, MintedKey, WorkspaceId } from "../../kernel/ids.ts";
import type { NanoUsd } from "../../kernel/money.ts";
import type { KeyRecord } from "./record.ts";
import type { KeyKind, ScopeKind } from "./schema.ts";

/** The fields of a key's form. */
export interface Limits {
  name: string;
  monthlyLimit: NanoUsd | null;
  dailyLimit: NanoUsd | null;
  requestsPerMinute: number | null;
}

export interface KeyRow extends Limits {
  id: KeyId;
  workspace: WorkspaceId;
  owner: string;
  kind: KeyKind;
  start: string;
  lastFour: string | null;
  /** Charged in the month of the requested time. */
  monthSpent: NanoUsd;
  /** Charged on the UTC day of that time; null: it has no daily limit. */
  daySpent: NanoUsd | null;
  createdAt: Date;
  lastUsedAt: Date | null;
  revokedAt: Date | null;
}

/**
 * Reads the records of usable keys, and of members as callers of the Workbench.
 * @param hashes SHA-256 in hexadecimal
 */
export async function selectKeyRecords(hashes: string[], sql: Queries): Promise<(KeyRecord & { hash: string })[]> {
  const asked = hashes.map((hash) => `\\x${hash}`);
  const rows = await sql<KeyRecordRow[]>`
    SELECT encode(k.hash, 'hex') AS hash, k.id, k.workspace_id AS workspace, k.owner_email AS owner, k.name, k.start,
      k.rate_limit_rpm AS "requestsPerMinute", k.monthly_spend_limit_nano AS "monthlyLimit",
      w.spend_limit_nano AS "workspaceLimit", k.daily_spend_limit_nano AS "dailyLimit",
      w.daily_spend_limit_nano AS "workspaceDailyLimit", m.caller_id AS caller, m.monthly_spend_limit_nano AS "memberLimit", w.enabled, w.early_access AS "earlyAccess", w.fallbacks,
      w.zero_data_retention AS "zeroDataRetention", w.prompt_storage AS "promptStorage", w.own_key_fallback AS "ownKeyFallback",
      w.cost_in_answers OR k.in_workbench AS "costInAnswers",
      w.idempotent_replay AND NOT w.zero_data_retention AS "idempotentReplay",
      CASE WHEN 'own_keys' = ANY (w.early_access) THEN (
        SELECT json_agg(json_build_object('id', own.id, 'workspace', own.workspace_id, 'provider', provider_id, 'state', state,
          'zeroDataRetention', own.zero_data_retention, 'sealed', encode(sealed, 'base64'), 'dataKey', encode(wrapped, 'base64'),
          'checks', checks) ORDER BY own.id)
        FROM own_keys AS own LEFT JOIN data_keys AS data ON data.workspace_id = own.workspace_id
        WHERE own.workspace_id = w.id AND state <> 'disabled') END AS "ownKeys"
    FROM (
      SELECT hash, id, workspace_id, owner_email, name, start, rate_limit_rpm, monthly_spend_limit_nano, daily_spend_limit_nano,
        false AS in_workbench
      FROM api_keys WHERE hash = ANY(${asked}::text[]::bytea[]) AND kind = 'inference' AND revoked_at IS NULL
      UNION ALL
      SELECT sha256(caller_id::bytea), caller_id, workspace_id, email, 'Workbench', '', NULL, NULL, NULL, true
      FROM members WHERE sha256(caller_id::bytea) = ANY(${asked}::text[]::bytea[]) AND role = ANY(${writers.slice()}::text[])
    ) AS k
    JOIN workspaces w ON w.id = k.workspace_id
    JOIN members m ON m.workspace_id = k.workspace_id AND m.email = k.owner_email AND m.active
    JOIN accounts a ON a.email = k.owner_email AND a.state = 'active'`;
  return rows.map(({ caller, memberLimit, ...row }) => ({
    ...row,
    memberBudget: memberLimit === null ? null : { caller, limit: memberLimit },
  }));
}

interface KeyRecordRow extends Omit<KeyRecord, "memberBudget"> {
  hash: string;
  caller: KeyId;
  memberLimit: NanoUsd | null;
}

export interface ToolsKeyRow {
  id: KeyId;
  workspace: WorkspaceId;
  owner: string;
  role: Role;
  scopeKind: ScopeKind;
  scopeId: string | null;
  /** null: the default. */
  requestsPerMinute: number | null;
  lastUsedAt: Date | null;
}

/** Reads a usable tools key. The rules are those of inference keys, except for the switch of the inference API. */
export async function selectToolsKey(hash: string, sql: Queries): Promise<ToolsKeyRow | undefined> {
  const [row] = await sql<ToolsKeyRow[]>`
    SELECT k.id, k.workspace_id AS workspace, k.owner_email AS owner, m.role, k.scope_kind AS "scopeKind",
      k.scope_id AS "scopeId", k.rate_limit_rpm AS "requestsPerMinute", (SELECT max(last_used_at) FROM key_months WHERE key_id = k.id) AS "lastUsedAt"
    FROM api_keys k
    JOIN members m ON m.workspace_id = k.workspace_id AND m.email = k.owner_email AND m.active
    JOIN accounts a ON a.email = k.owner_email AND a.state = 'active'
    WHERE k.hash = decode(${hash}, 'hex') AND k.kind = 'tools' AND k.revoked_at IS NULL`;
  return row;
}

/** A tools key spends nothing, so its monthly row holds only its last use. */
export async function updateToolsKeyUse({ id, month, at }: { id: KeyId; month: Month; at: Date }, sql: Queries): Promise<void> {
  await sql`
    INSERT INTO key_months (key_id, month, spent_nano, version, last_used_at) VALUES (${id}, ${month}, 0, 0, ${at})
    ON CONFLICT (key_id, month) DO UPDATE SET last_used_at = greatest(key_months.last_used_at, excluded.last_used_at)`;
}

export async function updateScope(
  { id, kind, target }: { id: KeyId; kind: ScopeKind; target: string | null },
  sql: Queries,
): Promise<void> {
  await sql`UPDATE api_keys SET scope_kind = ${kind}, scope_id = ${target} WHERE id = ${id}`;
}

/** Keys whose lists show only one of these projects show the workspace again. */
export async function clearScopes(
  { workspace, projects }: { workspace: WorkspaceId; projects: readonly string[] },
  sql: Queries,
): Promise<void> {
  await sql`
    UPDATE api_keys SET scope_kind = 'workspace', scope_id = NULL
    WHERE workspace_id = ${workspace} AND scope_kind = 'project' AND scope_id = ANY (${arrayText(projects, (id) => id)}::text[])`;
}

/** Reads the workspace's switch and locks it until the transaction ends; undefined: the owner is not an active member. */
export async function lockOwnership(
  { workspace, owner }: { workspace: WorkspaceId; owner: string },
  tx: Transaction,
): Promise<{ enabled: boolean } | undefined> {
  const [row] = await tx<{ enabled: boolean }[]>`
    SELECT w.enabled
    FROM workspaces w
    JOIN members m ON m.workspace_id = w.id AND m.email = ${owner} AND m.active
    JOIN accounts a ON a.email = m.email AND a.state = 'active'
    WHERE w.id = ${workspace}
    FOR SHARE`;
  return row;
}

interface NewKey extends Limits {
  id: KeyId;
  workspace: WorkspaceId;
  owner: string;
  kind: KeyKind;
  minted: MintedKey;
  /** Milliseconds. */
  at: number;
}

export async function insertKey(key: NewKey, tx: Transaction): Promise<void> {
  await tx`
    INSERT INTO api_keys (id, workspace_id, owner_email, kind, name, hash, start, last_four, monthly_spend_limit_nano,
      daily_spend_limit_nano, rate_limit_rpm, created_at)
    VALUES (${key.id}, ${key.workspace}, ${key.owner}, ${key.kind}, ${key.name}, decode(${key.minted.hash}, 'hex'),
      ${key.minted.start}, ${key.minted.lastFour}, ${key.monthlyLimit}, ${key.dailyLimit},
      ${key.requestsPerMinute}, ${new Date(key.at)})`;
}

export interface KeyFilter {
  /** null: any. */
  workspace: WorkspaceId | null;
  owner: string | null;
  /** true: revoked ones, false: the others. */
  revoked: boolean;
  /** A part of their name, of their masked form or of their owner's address; null: any. */
  text: string | null;
  /** Only keys that have spent four fifths of their monthly limit or more. */
  nearLimit: boolean;
  /** The id of a key: only those created after it; null: from the first. */
  after: KeyId | null;
  /** null: all. */
  limit: number | null;
  /** The time whose month and day are summed, in milliseconds. */
  now: number;
}

/** In order of creation. */
export async function selectKeys(filter: KeyFilter, sql: Queries): Promise<KeyRow[]> {
  const { workspace, owner, text, revoked, nearLimit, after, limit, now } = filter;
  return sql<KeyRow[]>`
    ${columns(now, sql)}
    WHERE k.revoked_at IS ${revoked ? sql`NOT NULL` : sql`NULL`}
      ${workspace === null ? sql`` : sql`AND k.workspace_id = ${workspace}`}
      ${owner === null ? sql`` : sql`AND k.owner_email = ${owner}`}
      ${text === null ? sql`` : sql`AND strpos(lower(k.name || ' ' || k.owner_email || ' ' || k.last_four), lower(${text})) > 0`}
      ${nearLimit ? sql`AND s.spent_nano * 5 >= k.monthly_spend_limit_nano * 4` : sql``}
      ${after === null ? sql`` : sql`AND k.id > ${after}`}
    ORDER BY k.id
    ${limit === null ? sql`` : sql`LIMIT ${limit}`}`;
}

export async function selectKey({ id, now }: { id: KeyId; now: number }, sql: Queries): Promise<KeyRow | undefined> {
  const [row] = await sql<KeyRow[]>`${columns(now, sql)} WHERE k.id = ${id}`;
  return row;
}

/** The ids of all callers that are one person: their keys, revoked ones too, and the person in the Workbench. */
export async function selectCallerIds(
  { workspace, owner }: { workspace: WorkspaceId | null; owner: string },
  sql: Queries,
): Promise<KeyId[]> {
  const inWorkspace = workspace === null ? sql`` : sql`AND workspace_id = ${workspace}`;
  const rows = await sql<{ id: KeyId }[]>`
    SELECT id FROM api_keys WHERE owner_email = ${owner} ${inWorkspace}
    UNION ALL SELECT caller_id FROM members WHERE email = ${owner} ${inWorkspace}`;
  return rows.map((row) => row.id);
}

export interface Caller {
  id: KeyId;
  /** The address of the person behind it: the owner of the key, or the member. */
  email: string;
  /** The name of the key; null: a member in the Workbench. */
  keyName: string | null;
}

/** Unknown callers are absent. */
export async function selectCallers(ids: KeyId[], sql: Queries): Promise<Caller[]> {
  return sql<Caller[]>`
    SELECT id, owner_email AS email, name AS "keyName" FROM api_keys WHERE id = ANY(${ids}::text[])
    UNION ALL SELECT caller_id, email, NULL FROM members WHERE caller_id = ANY(${ids}::text[])`;
}

/** Reads a key and locks it until the transaction ends. */
export async function lockKey({ id, now }: { id: KeyId; now: number }, tx: Transaction): Promise<KeyRow | undefined> {
  const [row] = await tx<KeyRow[]>`${columns(now, tx)} WHERE k.id = ${id} FOR UPDATE OF k`;
  return row;
}

export async function updateLimits(id: KeyId, limits: Limits, tx: Transaction): Promise<void> {
  await tx`
    UPDATE api_keys SET name = ${limits.name}, monthly_spend_limit_nano = ${limits.monthlyLimit},
      daily_spend_limit_nano = ${limits.dailyLimit}, rate_limit_rpm = ${limits.requestsPerMinute}
    WHERE id = ${id}`;
}

export async function updateRevoked(id: KeyId, at: Date, tx: Transaction): Promise<void> {
  await tx`UPDATE api_keys SET revoked_at = ${at} WHERE id = ${id}`;
}

/** @returns the keys that this revoked, in order of creation */
export async function revokeKeysOf(
  { workspace, owner, at }: { workspace: WorkspaceId; owner: string; at: Date },
  tx: Transaction,
): Promise<KeyId[]> {
  const rows = await tx<{ id: KeyId }[]>`
    UPDATE api_keys SET revoked_at = ${at}
    WHERE workspace_id = ${workspace} AND owner_email = ${owner} AND revoked_at IS NULL
    RETURNING id`;
  return rows.map(({ id }) => id).toSorted();
}

function columns(now: number, sql: Queries) {
  return sql`
    SELECT k.id, k.workspace_id AS workspace, k.owner_email AS owner, k.kind, k.name, k.start, k.last_four AS "lastFour",
      k.monthly_spend_limit_nano AS "monthlyLimit", k.daily_spend_limit_nano AS "dailyLimit",
      k.rate_limit_rpm AS "requestsPerMinute", coalesce(s.spent_nano, 0) AS "monthSpent",
      -- A list has many keys that were not used today, and their charges need not be searched.
      CASE WHEN k.daily_spend_limit_nano IS NULL THEN NULL WHEN s.last_used_at >= ${new Date(dayOf(now))}
        THEN budget_total(k.workspace_id, 'day:' || k.id, ${dayOf(now)}) ELSE 0 END AS "daySpent", k.created_at AS "createdAt",
      (SELECT max(last_used_at) FROM key_months WHERE key_id = k.id) AS "lastUsedAt", k.revoked_at AS "revokedAt"
    FROM api_keys k LEFT JOIN key_months s ON s.key_id = k.id AND s.month = ${monthOf(now)}`;
}
