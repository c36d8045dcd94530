/** The rules of a key's form, for creation and edit. */
import type { Fields } from "../audit/changes.ts";
import { formatUsd, type NanoUsd } from "../../kernel/money.ts";
import { parseAmount } from "../workspaces/fields.ts";
import type { KeyEdit } from "./schema.ts";
import type { Limits } from "./store.ts";

const nameWhenEmpty = "Untitled key";

export const newLimits: Limits = { name: nameWhenEmpty, monthlyLimit: null, dailyLimit: null, requestsPerMinute: null };

/**
 * Merges the typed fields into the previous ones. Spend limits are above zero with at most two decimals.
 * @throws DomainError invalid_field
 */
export function parseForm(typed: KeyEdit, before: Limits): Limits {
  return {
    name: typed.name === undefined ? before.name : typed.name.trim() || nameWhenEmpty,
    monthlyLimit: parseLimit({ field: "monthly_spend_limit_usd", typed, before: before.monthlyLimit }),
    dailyLimit: parseLimit({ field: "daily_spend_limit_usd", typed, before: before.dailyLimit }),
    requestsPerMinute: typed.rate_limit_rpm === undefined ? before.requestsPerMinute : typed.rate_limit_rpm,
  };
}

function parseLimit({
  field,
  typed,
  before,
}: {
  field: "monthly_spend_limit_usd" | "daily_spend_limit_usd";
  typed: KeyEdit;
  before: NanoUsd | null;
}): NanoUsd | null {
  const text = typed[field];
  if (text === undefined) return before;
  return text === null ? null : parseAmount({ field, text, decimalsMax: 2 });
}

/** The fields with their names in the control API and the audit log. */
export function formFields(limits: Limits): Fields {
  return {
    name: limits.name,
    monthly_spend_limit_usd: limits.monthlyLimit === null ? null : formatUsd(limits.monthlyLimit),
    daily_spend_limit_usd: limits.dailyLimit === null ? null : formatUsd(limits.dailyLimit),
    rate_limit_rpm: limits.requestsPerMinute,
  };
}
