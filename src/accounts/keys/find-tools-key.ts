import type { Queries } from "../../backing/backing.ts";
import { monthOf, type Clock } from "../../kernel/clock.ts";
import { toolsKeyUseMs } from "../limits.ts";
import { selectToolsKey, updateToolsKeyUse, type ToolsKeyRow } from "./store.ts";

/**
 * Reads a usable tools key; null if it cannot be used, without the reason. Every call reads it again, so that a revoked key ends at
 * once. The key's last use is stored once a minute.
 * @param hash SHA-256 in hexadecimal
 */
export async function findToolsKey(hash: string, { sql, clock }: { sql: Queries; clock: Clock }): Promise<ToolsKeyRow | null> {
  const row = await selectToolsKey(hash, sql);
  if (row === undefined) return null;
  const now = clock.now();
  if (now - (row.lastUsedAt?.getTime() ?? 0) >= toolsKeyUseMs) {
    await updateToolsKeyUse({ id: row.id, month: monthOf(now), at: new Date(now) }, sql);
  }
  return row;
}
