/** GET /key: the calling key, with the credit and spend that it has left. */
import { Type, type Static } from "@sinclair/typebox";
import { formatUsd, usdAsJsonNumber } from "../../kernel/money.ts";
import { jsonResponse } from "../../kernel/json-response.ts";
import { requestsPerMinuteDefault } from "../../accounts/limits.ts";
import { authenticate } from "./authenticate.ts";
import type { Gateway } from "./gateway.ts";

const KeyDescription = Type.Object({
  name: Type.String({ description: "The key's label" }),
  prefix: Type.String({ description: "The visible start of the key: its prefix and eight characters" }),
  scopes: Type.Array(Type.Literal("inference"), { description: "The APIs that the key opens" }),
  monthly_spend_limit_usd: Type.Union([Type.String(), Type.Null()], {
    description: "The most that the key may spend in a calendar month (UTC), in USD as a decimal number; null: no limit",
  }),
  daily_spend_limit_usd: Type.Optional(
    Type.String({
      description: "The most that the key may spend in a day (UTC), in USD as a decimal number; absent: no limit. An addition",
    }),
  ),
  rate_limit_rpm: Type.Union([Type.Integer(), Type.Null()], {
    description: `Requests in any 60 seconds; null: the default of ${requestsPerMinuteDefault}`,
  }),
  available_credit_usd: Type.Optional(
    Type.Number({ description: "The workspace's credit minus the reservations of requests in flight, in USD" }),
  ),
  month_spent_usd: Type.Optional(Type.Number({ description: "The key's spend in the current month, in USD" })),
  month: Type.Optional(Type.String({ pattern: "^\\d{4}-\\d{2}$", description: "The current month in UTC, as YYYY-MM" })),
});

export const KeyBody = Type.Object({
  data: Type.Object(KeyDescription.properties, { description: "The calling key" }),
});

/** Leaves the last three fields out when billing does not answer; the request still succeeds. */
export async function describeKey(request: Request, gateway: Gateway): Promise<Response> {
  const { record } = await authenticate(request, gateway);
  const position = await gateway.admission.position(record.workspace, record.id);
  const money = position && {
    available_credit_usd: usdAsJsonNumber(position.available),
    month_spent_usd: usdAsJsonNumber(position.keySpent ?? 0n),
    month: position.month,
  };
  const data: Static<typeof KeyDescription> = {
    name: record.name,
    prefix: record.start,
    scopes: ["inference"],
    monthly_spend_limit_usd: record.monthlyLimit === null ? null : shortUsd(BigInt(record.monthlyLimit)),
    ...(record.dailyLimit !== undefined && { daily_spend_limit_usd: shortUsd(BigInt(record.dailyLimit)) }),
    rate_limit_rpm: record.requestsPerMinute,
    ...money,
  };
  return jsonResponse({ data }, { headers: { "cache-control": "no-store" } });
}

/** Limits have at most two decimals: `25` is `25.00`. */
function shortUsd(nano: bigint): string {
  return formatUsd(nano).slice(0, -7);
}
