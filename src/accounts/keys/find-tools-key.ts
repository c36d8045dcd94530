import type { Queries } from "../../backing/backing.ts";
import { monthOf, type Clock } from "../../kernel/clock.ts";
import { toolsKeyUseMs } from "../limits.ts";
import { selectToolsKey, updateToolsKeyUse, type ToolsKeyRow } from "./store.ts";

/**
 * Whose tools key this is; null where nobody can use it, and nothing tells why. Read anew for every call, so that what is
 * revoked ends at once; the key's last use is noted once a minute.
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
