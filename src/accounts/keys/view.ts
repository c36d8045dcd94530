import { isoTime } from "../../kernel/clock.ts";
import { maskKey } from "../../kernel/ids.ts";
import { formatUsd } from "../../kernel/money.ts";
import type { KeyView } from "./schema.ts";
import type { KeyRow } from "./store.ts";

/** A key as clients see it, masked: the key itself is not stored. */
export function viewKey(row: KeyRow): KeyView {
  return {
    id: row.id,
    kind: row.kind,
    name: row.name,
    prefix: row.start,
    masked: maskKey(row.start, row.lastFour),
    owner: row.owner,
    workspace_id: row.workspace,
    monthly_spend_limit_usd: row.monthlyLimit === null ? null : formatUsd(row.monthlyLimit),
    daily_spend_limit_usd: row.dailyLimit === null ? null : formatUsd(row.dailyLimit),
    rate_limit_rpm: row.requestsPerMinute,
    month_spent_usd: formatUsd(row.monthSpent),
    day_spent_usd: row.daySpent === null || row.dailyLimit === null ? null : formatUsd(row.daySpent),
    created_at: isoTime(row.createdAt.getTime()),
    last_used_at: row.lastUsedAt && isoTime(row.lastUsedAt.getTime()),
    revoked_at: row.revokedAt && isoTime(row.revokedAt.getTime()),
  };
}
