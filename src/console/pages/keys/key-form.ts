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
    kind: "whole",
    name: "rate_limit_rpm",
    label: "Requests a minute",
    hint: `From 1 to ${requestsPerMinuteMax.toLocaleString("en-US")}. If empty: ${requestsPerMinuteDefault}.`,
  },
];

/** The fields for the control API; what cannot be a number stays as it was typed, and is refused there by name. */
export function limitsIn(form: FormFields): Record<string, unknown> {
  const limit = form.text("monthly_spend_limit_usd");
  const requests = form.text("rate_limit_rpm");
  return {
    name: form.text("name"),
    monthly_spend_limit_usd: limit === "" ? null : limit,
    rate_limit_rpm: requests === "" ? null : /^\d{1,9}$/.test(requests) ? Number(requests) : requests,
  };
}

export function valuesOf({ name, monthly_spend_limit_usd: limit, rate_limit_rpm: requests }: KeyView): Record<string, string> {
  return {
    name,
    monthly_spend_limit_usd: limit === null ? "" : limit.replace(/0{1,7}$/, ""),
    rate_limit_rpm: requests === null ? "" : String(requests),
  };
}
