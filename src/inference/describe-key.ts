/** GET /key: what the calling key is, and what it may still spend. */
import { formatUsd, usdAsJsonNumber } from "../kernel/money.ts";
import { identify } from "./identify.ts";
import type { Gateway } from "./gateway.ts";

/** The last three fields are left out when nobody can answer for the money; the request succeeds all the same. */
export async function describeKey(request: Request, gateway: Gateway): Promise<Response> {
  const { record } = await identify(request, gateway);
  const position = await gateway.admission.position(record.workspace, record.id);
  const money = position && {
    available_credit_usd: usdAsJsonNumber(position.available),
    month_spent_usd: usdAsJsonNumber(position.keySpent ?? 0n),
    month: position.month,
  };
  return Response.json({
    data: {
      name: record.name,
      prefix: record.start,
      scopes: ["inference"],
      monthly_spend_limit_usd: record.monthlyLimit === null ? null : shortUsd(BigInt(record.monthlyLimit)),
      rate_limit_rpm: record.requestsPerMinute,
      ...money,
    },
  });
}

/** Limits have at most two decimals: `25` is `25.00`. */
function shortUsd(nano: bigint): string {
  return formatUsd(nano).slice(0, -7);
}
