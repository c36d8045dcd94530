/**
 * Finds usable keys by their hashes: in batches for admission, one at a time for the tools API. A key that cannot be used is absent,
 * without the reason. Every call of the tools API reads its key again, so that a revoked one ends at once; its last use is stored once
 * a minute.
 */
import type { Queries } from "../../backing/backing.ts";
import { monthOf, type Clock } from "../../kernel/clock.ts";
import { toolsKeyUseMs } from "../limits.ts";
import type { KeyRecord } from "./record.ts";
import { selectKeyRecords, selectToolsKey, updateToolsKeyUse, type ToolsKeyRow } from "./store.ts";

/**
 * Reads the usable keys of some hashes: inference keys that are not revoked and whose owner is an active member with an active
 * account; and members that may use the Workbench, by the hash of their caller id. A hash without a usable key or member is absent,
 * without the reason.
 * @param hashes SHA-256 in hexadecimal
 */
export async function findKeyRecords(hashes: string[], sql: Queries): Promise<Map<string, KeyRecord>> {
  const rows = await selectKeyRecords(hashes, sql);
  return new Map(rows.map(({ hash, ...record }) => [hash, record]));
}

/** Reads a usable tools key; null if it cannot be used. @param hash SHA-256 in hexadecimal */
export async function findToolsKey(hash: string, { sql, clock }: { sql: Queries; clock: Clock }): Promise<ToolsKeyRow | null> {
  const row = await selectToolsKey(hash, sql);
  if (row === undefined) return null;
  const now = clock.now();
  if (now - (row.lastUsedAt?.getTime() ?? 0) >= toolsKeyUseMs) {
    await updateToolsKeyUse({ id: row.id, month: monthOf(now), at: new Date(now) }, sql);
  }
  return row;
}
