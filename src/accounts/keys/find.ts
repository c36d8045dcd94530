/**
 * Finds usable keys by their hashes: in batches for admission, one at a time for the tools API. A key that cannot be used is absent,
 * without the reason. Every call of the tools API reads its key again, so that a revoked one ends at once; its last use is stored once
 * a minute.
 */
import type { Queries } from "../../backing/backing.ts";
import { monthOf, type Clock } from "../../kernel/clock.ts";
import { hashKey, keyPrefix } from "../../kernel/ids.ts";
import { toolsKeyUseMs } from "../limits.ts";
import type { CallRateLimiter } from "../quotas/call-rate-limiter.ts";
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

/**
 * The tools key in the header `Authorization`, bare or after `Bearer` or `ApiKey`. null if the header has no key in the service's format:
 * then nothing is hashed or queried. Anything else in the header makes it invalid.
 */
export function givenToolsKey(header: string | null, slug: string): string | null {
  const prefix = keyPrefix(slug, "tools");
  const [, key] = /^(?:(?:bearer|apikey) +)?(\S+)$/i.exec(header ?? "") ?? [];
  if (!key?.startsWith(prefix)) return null;
  return /^[0-9a-f]{64}$/.test(key.slice(prefix.length)) ? key : null;
}

/** What bounds the calls of each key, over all APIs that it opens. */
export interface KeyCalls {
  rates: CallRateLimiter;
  /** Delays the query of a known key while the event loop is busy. */
  loopThrottle: { admit(key: string): Promise<void> };
}

/**
 * Counts a call against its key, and finds the key. One that has called too often is refused before any query.
 * @param key in the service's format. @returns null: it is unknown, revoked, or its owner may not use it
 * @throws LimitReachedError
 */
export async function admitToolsKey(
  key: string,
  { rates, loopThrottle }: KeyCalls,
  sources: { sql: Queries; clock: Clock },
): Promise<{ row: ToolsKeyRow; charge: (calls: number) => void } | null> {
  const hash = hashKey(key);
  rates.require(hash);
  if (rates.knows(hash)) await loopThrottle.admit(hash);
  const row = await findToolsKey(hash, sources);
  if (row === null) return null;
  rates.count(hash, row.requestsPerMinute);
  return { row, charge: (calls) => rates.charge(hash, calls) };
}

/** Reads a usable tools key; null if it cannot be used. @param hash SHA-256 in hexadecimal */
async function findToolsKey(hash: string, { sql, clock }: { sql: Queries; clock: Clock }): Promise<ToolsKeyRow | null> {
  const row = await selectToolsKey(hash, sql);
  if (row === undefined) return null;
  const now = clock.now();
  if (now - (row.lastUsedAt?.getTime() ?? 0) >= toolsKeyUseMs) {
    await updateToolsKeyUse({ id: row.id, month: monthOf(now), at: new Date(now) }, sql);
  }
  return row;
}
