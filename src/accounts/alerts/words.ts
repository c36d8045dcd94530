/**
 * What alerts say: a sentence for people, and data for programs. The subject of a mail contains no user text, since it is a header.
 */
import { formatUsd, type NanoUsd } from "../../kernel/money.ts";
import type { AlertRule, Spending } from "./store.ts";
import type { LimitKind } from "./kinds.ts";

type Value = string | number | null | readonly Value[] | { [field: string]: Value };
export type AlertData = Record<string, Value>;

export interface AlertWords {
  /** The subject of its mail. No header contains user text. */
  title: string;
  text: string;
  data: AlertData;
}

interface LimitWords {
  /** Such as "monthly limit". */
  limit: string;
  /** What has the limit, and its name in `data`; null: the workspace. */
  of: "key" | "member" | null;
}

const limitWords: Record<LimitKind, LimitWords> = {
  key_month: { limit: "monthly limit", of: "key" },
  workspace_month: { limit: "monthly limit", of: null },
  key_day: { limit: "daily limit", of: "key" },
  workspace_day: { limit: "daily limit", of: null },
  member_month: { limit: "monthly limit", of: "member" },
};

export function limitAlert(kind: LimitKind, { period, ...spending }: Spending & { period: string }): AlertWords {
  const { subject, name, owner, spent, limit, percent } = spending;
  const { limit: what, of } = limitWords[kind];
  const named = name === null || name === "" ? subject : `"${name}" (${subject})`;
  const whose = of === null ? "the workspace" : `the ${of} ${named}`;
  return {
    title: `${percent} % of the ${what} of ${of === null ? "the workspace" : `a ${of}`} is spent`,
    text: `${percent} % of the ${what} of ${whose} is spent: ${usd(spent)} of ${usd(limit)} USD in ${period}`,
    data: {
      percent,
      period,
      spent_usd: formatUsd(spent),
      limit_usd: formatUsd(limit),
      ...(of !== null && { [of]: { id: subject, name, owner } }),
    },
  };
}

export function balanceAlert({ balance, amount }: { balance: NanoUsd; amount: NonNullable<AlertRule["amount"]> }): AlertWords {
  return {
    title: "The credit is low",
    text: `The balance is ${usd(balance)} USD, below ${usd(amount)} USD. At zero, requests are refused`,
    data: { balance_usd: formatUsd(balance), below_usd: formatUsd(amount) },
  };
}

/** At least two decimals, and more only if they are not zero. */
function usd(amount: NanoUsd): string {
  return formatUsd(amount).replace(/0{1,7}$/, "");
}
