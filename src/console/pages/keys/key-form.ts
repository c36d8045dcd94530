/** The form of a key, for creation and edit. */
import type { KeyView } from "../../../accounts/keys/schema.ts";
import { nameCharactersMax, requestsPerMinuteDefault, requestsPerMinuteMax } from "../../../accounts/limits.ts";
import type { FormFields } from "../../form.ts";
import type { Field } from "../../look/forms/field.ts";

export const limitFields: readonly Field[] = [
  {
    kind: "text",
    name: "name",
    label: "Name",
    hint: "What it is for. If empty: “Untitled key”.",
    charactersMax: nameCharactersMax,
  },
  {
    kind: "money",
    name: "monthly_spend_limit_usd",
    label: "Monthly spend limit in USD",
    hint: "For each calendar month in UTC. If empty, the key has no limit of its own.",
  },
  {
    kind: "money",
    name: "daily_spend_limit_usd",
    label: "Daily spend limit in USD",
    hint: "For each day in UTC, beside the monthly limit. If empty, the key has none.",
  },
  {
    kind: "whole",
    name: "rate_limit_rpm",
    label: "Requests a minute",
    hint: `From 1 to ${requestsPerMinuteMax.toLocaleString("en-US")}. If empty: ${requestsPerMinuteDefault}.`,
  },
];

const spendLimits: readonly string[] = ["monthly_spend_limit_usd", "daily_spend_limit_usd"];

/** A key of the tools API spends nothing. */
export const toolsLimitFields = limitFields.filter(({ name }) => !spendLimits.includes(name));

/** The fields for the control API; what cannot be a number stays as it was typed, and is refused there by name. */
export function limitsIn(form: FormFields, kind: KeyView["kind"]): Record<string, unknown> {
  const requests = form.text("rate_limit_rpm");
  const spending = kind === "tools" ? [] : spendLimits.map((name) => [name, form.text(name) || null]);
  return {
    name: form.text("name"),
    ...Object.fromEntries(spending),
    rate_limit_rpm: requests === "" ? null : /^\d{1,9}$/.test(requests) ? Number(requests) : requests,
  };
}

export function valuesOf({ name, rate_limit_rpm: requests, ...limits }: KeyView): Record<string, string> {
  return {
    name,
    monthly_spend_limit_usd: typedUsd(limits.monthly_spend_limit_usd),
    daily_spend_limit_usd: typedUsd(limits.daily_spend_limit_usd),
    rate_limit_rpm: requests === null ? "" : String(requests),
  };
}

function typedUsd(limit: string | null): string {
  return limit === null ? "" : limit.replace(/0{1,7}$/, "");
}
