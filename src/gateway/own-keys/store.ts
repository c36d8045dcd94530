/** All SQL of own provider keys. Changes lock a row, and additions lock the workspace's keys, so that a provider has one key in use. */
import type { Queries, Transaction } from "../../backing/backing.ts";
import { isoTime } from "../../kernel/clock.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { ownKeyMailPauseMs } from "../limits.ts";

interface NewOwnKeyRow {
  id: string;
  workspace: WorkspaceId;
  provider: string;
  name: string;
  lastFour: string | null;
  sealed: Uint8Array;
  zeroDataRetention: boolean;
  /** Milliseconds: created and tested. */
  at: number;
  checks: string[];
}

export interface OwnKeyRow {
  id: string;
  workspace: WorkspaceId;
  provider: string;
  name: string;
  lastFour: string | null;
  state: "active" | "refused" | "disabled";
  zeroDataRetention: boolean;
  /** In base64. */
  sealed: string;
  /** The sealed data key in base64; null: it is missing. */
  dataKey: string | null;
  checks: string[];
  createdAt: Date;
  testedAt: Date;
  lastUsedAt: Date | null;
}

const columns = (sql: Queries) => sql`
  id, workspace_id AS workspace, provider_id AS provider, name, last_four AS "lastFour", state,
  zero_data_retention AS "zeroDataRetention", encode(sealed, 'base64') AS sealed, checks, created_at AS "createdAt",
  tested_at AS "testedAt", last_used_at AS "lastUsedAt",
  (SELECT encode(wrapped, 'base64') FROM data_keys WHERE data_keys.workspace_id = own_keys.workspace_id) AS "dataKey"`;

/** Locks the workspace's own keys against additions until the transaction ends. */
export async function lockOwnKeys(workspace: WorkspaceId, tx: Transaction): Promise<OwnKeyRow[]> {
  await tx`SELECT FROM workspaces WHERE id = ${workspace} FOR NO KEY UPDATE`;
  return tx<OwnKeyRow[]>`SELECT ${columns(tx)} FROM own_keys WHERE workspace_id = ${workspace} ORDER BY id`;
}

export async function insertOwnKey(row: NewOwnKeyRow, tx: Transaction): Promise<void> {
  await tx`
    INSERT INTO own_keys (id, workspace_id, provider_id, name, last_four, sealed, state, zero_data_retention, checks, created_at, tested_at)
    VALUES (${row.id}, ${row.workspace}, ${row.provider}, ${row.name}, ${row.lastFour}, ${Buffer.from(row.sealed)}, 'active',
      ${row.zeroDataRetention}, ${row.checks}::text[], ${isoTime(row.at)}, ${isoTime(row.at)})`;
}

export async function selectOwnKey(id: string, sql: Queries): Promise<OwnKeyRow | undefined> {
  const [row] = await sql<OwnKeyRow[]>`SELECT ${columns(sql)} FROM own_keys WHERE id = ${id}`;
  return row;
}

/** Reads an own key and locks it until the transaction ends. */
export async function lockOwnKey(id: string, tx: Transaction): Promise<OwnKeyRow | undefined> {
  const [row] = await tx<OwnKeyRow[]>`SELECT ${columns(tx)} FROM own_keys WHERE id = ${id} FOR UPDATE`;
  return row;
}

/** In order of creation. @param workspace null: all */
export async function selectOwnKeys(
  { workspace, limit }: { workspace: WorkspaceId | null; limit: number },
  sql: Queries,
): Promise<OwnKeyRow[]> {
  return sql<OwnKeyRow[]>`
    SELECT ${columns(sql)} FROM own_keys
    WHERE ${workspace === null ? sql`true` : sql`workspace_id = ${workspace}`} ORDER BY id LIMIT ${limit}`;
}

export async function updateSealed(
  row: Pick<NewOwnKeyRow, "id" | "lastFour" | "sealed" | "zeroDataRetention" | "at" | "checks">,
  tx: Transaction,
): Promise<void> {
  await tx`
    UPDATE own_keys SET sealed = ${Buffer.from(row.sealed)}, last_four = ${row.lastFour}, state = 'active',
      zero_data_retention = ${row.zeroDataRetention}, tested_at = ${isoTime(row.at)}, checks = ${row.checks}::text[],
      mailed_at = NULL
    WHERE id = ${row.id}`;
}

export async function updateState({ id, state }: Pick<OwnKeyRow, "id" | "state">, tx: Transaction): Promise<void> {
  await tx`UPDATE own_keys SET state = ${state} WHERE id = ${id}`;
}

/** @param at milliseconds; null: the provider accepted no call */
export async function updateChecks(
  { id, checks, at }: { id: string; checks: string[]; at: number | null },
  tx: Transaction,
): Promise<void> {
  await tx`
    UPDATE own_keys SET checks = ${checks}::text[], tested_at = coalesce(${at === null ? null : isoTime(at)}::timestamptz, tested_at)
    WHERE id = ${id}`;
}

export async function deleteOwnKeyRow(id: string, tx: Transaction): Promise<void> {
  await tx`DELETE FROM own_keys WHERE id = ${id}`;
}

/**
 * Changes the state if it differs and the key has not been replaced since.
 * @param sealed the used key in base64
 * @returns whether it did
 */
export async function moveState(
  { id, sealed, to }: { id: string; sealed: string; to: "active" | "refused" },
  tx: Transaction,
): Promise<boolean> {
  const from = to === "active" ? "refused" : "active";
  const moved = await tx`
    UPDATE own_keys SET state = ${to} WHERE id = ${id} AND state = ${from} AND sealed = decode(${sealed}, 'base64')`;
  return moved.count > 0;
}

/** @returns whether a mail about its refusal is due: then it counts as sent at this time */
export async function claimMail({ id, at }: { id: string; at: Date }, tx: Transaction): Promise<boolean> {
  const before = new Date(at.getTime() - ownKeyMailPauseMs);
  const claimed = await tx`
    UPDATE own_keys SET mailed_at = ${at} WHERE id = ${id} AND (mailed_at IS NULL OR mailed_at <= ${before})`;
  return claimed.count > 0;
}

export async function updateLastUse({ id, at }: { id: string; at: Date }, sql: Queries): Promise<void> {
  await sql`UPDATE own_keys SET last_used_at = greatest(last_used_at, ${at}) WHERE id = ${id}`;
}
