/** The rules of a key's form, for creation and edit. */
import type { Fields } from "../audit/changes.ts";
import { formatUsd } from "../../kernel/money.ts";
import { parseAmount } from "../workspaces/fields.ts";
import type { KeyEdit } from "./schema.ts";
import type { Limits } from "./store.ts";

const nameWhenEmpty = "Untitled key";

export const newLimits: Limits = { name: nameWhenEmpty, monthlyLimit: null, requestsPerMinute: null };

/**
 * Merges the typed fields into the previous ones. The spend limit is above zero with at most two decimals.
 * @throws DomainError invalid_field
 */
export function parseForm(typed: KeyEdit, before: Limits): Limits {
  const limit = typed.monthly_spend_limit_usd;
  return {
    name: typed.name === undefined ? before.name : typed.name.trim() || nameWhenEmpty,
    monthlyLimit:
      limit === undefined
        ? before.monthlyLimit
        : limit === null
          ? null
          : parseAmount({ field: "monthly_spend_limit_usd", text: limit, decimalsMax: 2 }),
    requestsPerMinute: typed.rate_limit_rpm === undefined ? before.requestsPerMinute : typed.rate_limit_rpm,
  };
}

/** The fields with their names in the control API and the audit log. */
export function formFields(limits: Limits): Fields {
  return {
    name: limits.name,
    monthly_spend_limit_usd: limits.monthlyLimit === null ? null : formatUsd(limits.monthlyLimit),
    rate_limit_rpm: limits.requestsPerMinute,
  };
}
