import type { Queries } from "../../backing/backing.ts";
import type { KeyRecord } from "./record.ts";
import { selectKeyRecords } from "./store.ts";

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
