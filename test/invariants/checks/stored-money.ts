/** The invariants that only the database shows: those of `weir ledger verify`, by the invariant here that each belongs to. */
import type { Verification } from "../../../src/gateway/metering/verify.ts";
import type { Finding } from "../evidence.ts";

/** Contains every invariant of `weir ledger verify` once. */
export const storedInvariants = {
  "I-2": ["overdraft_explained"],
  "I-4": ["gapless_chain", "running_balance", "account_is_chain_head", "statement_matches_ledger"],
  "I-8": ["entries_add_up", "charges_sum_to_entries", "cost_rounded_half_up"],
  "I-16": ["charge_within_reservation", "charge_leaves_no_debt"],
  "I-17": ["leaving_is_charged"],
  "I-20": ["budget_totals"],
  "I-23": ["one_charge_a_key"],
  "I-11": [
    "workspace_month_totals",
    "key_month_totals",
    "usage_adds_up",
    "usage_spans_agree",
    "usage_kinds_agree",
    "usage_counts_agree",
  ],
} as const satisfies Record<string, readonly string[]>;

/** The finding for one of them. A verification names only the first broken invariant. */
export function storedMoney(promise: keyof typeof storedInvariants, { checked, broken }: Verification): Finding {
  const names: readonly string[] = storedInvariants[promise];
  const checks = checked.filter(({ invariant }) => names.includes(invariant)).reduce((sum, { rows }) => sum + rows, 0);
  return { checks, broken: broken && names.includes(broken.invariant) ? [`${broken.invariant}: ${broken.detail}`] : [] };
}
