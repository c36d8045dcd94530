import type { Queries } from "../../backing/backing.ts";
import type { KeyRecord } from "./record.ts";
import { selectKeyRecords } from "./store.ts";

/**
 * Who may use which keys, now: inference keys, not revoked, whose owner is an active member with an active account.
 * A hash without a usable key is absent, and nothing tells why.
 * @param hashes SHA-256 in hexadecimal
 */
export async function findKeyRecords(hashes: string[], sql: Queries): Promise<Map<string, KeyRecord>> {
  const rows = await selectKeyRecords(hashes, sql);
  return new Map(rows.map(({ hash, ...record }) => [hash, record]));
}
