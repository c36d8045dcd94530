import type { Month } from "../../kernel/clock.ts";
import { formatUsd, type NanoUsd } from "../../kernel/money.ts";
import type { WorkspaceView } from "./schema.ts";
import type { WorkspaceRow } from "./store.ts";

/** Credit in the counters: available = balance − reserved. */
export interface Credit {
  balance: NanoUsd;
  reserved: NanoUsd;
  available: NanoUsd;
}

/** @param credit null: the counters cannot answer, and the ledger gives the balance */
export function viewWorkspace(row: WorkspaceRow, { month, credit }: { month: Month; credit: Credit | null }): WorkspaceView {
  return {
    id: row.id,
    name: row.name,
    enabled: row.enabled,
    spend_limit_usd: row.spendLimit === null ? null : formatUsd(row.spendLimit),
    daily_spend_limit_usd: row.dailySpendLimit === null ? null : formatUsd(row.dailySpendLimit),
    fallbacks: row.fallbacks,
    zero_data_retention: row.zeroDataRetention,
    prompt_storage: row.promptStorage,
    prompt_retention_days: row.promptRetentionDays,
    cost_in_answers: row.costInAnswers,
    own_key_fallback: row.ownKeyFallback,
    early_access: row.earlyAccess,
    ...viewCredit(row.balance, credit),
    month,
    month_spent_usd: formatUsd(row.monthSpent),
    day_spent_usd: row.daySpent === null ? null : formatUsd(row.daySpent),
  };
}

export function viewCredit(
  ledgerBalance: NanoUsd,
  credit: Credit | null,
): Pick<WorkspaceView, "balance_usd" | "reserved_usd" | "available_usd"> {
  return {
    balance_usd: formatUsd(credit?.balance ?? ledgerBalance),
    reserved_usd: credit && formatUsd(credit.reserved),
    available_usd: credit && formatUsd(credit.available),
  };
}
