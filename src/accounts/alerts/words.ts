/**
 * What alerts say: a sentence for people, and data for programs. The subject of a mail contains no user text, since it is a header. An
 * event's sentence is here too, although the wing that reports it knows the facts: so a page can show it before it happens.
 */
import { formatUsd, type NanoUsd } from "../../kernel/money.ts";
import type { AlertRule, Spending } from "./store.ts";
import { watchedBy, type AlertKind, type LimitKind } from "./kinds.ts";

type Value = string | number | null | readonly Value[] | { [field: string]: Value };
export type AlertData = Record<string, Value>;

export interface AlertWords {
  /** The subject of its mail. No header contains user text. */
  title: string;
  text: string;
  data: AlertData;
}

const limitNames: Record<LimitKind, string> = {
  key_month: "monthly limit",
  workspace_month: "monthly limit",
  key_day: "daily limit",
  workspace_day: "daily limit",
  member_month: "monthly limit",
};

export function limitAlert(kind: LimitKind, { period, ...spending }: Spending & { period: string }): AlertWords {
  const { subject, name, owner, spent, limit, percent } = spending;
  const what = limitNames[kind];
  // Also the name of what has the limit in `data`; null: the workspace.
  const of = watchedBy(kind);
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

// Events

export function refusedKeyText({ provider, id }: { provider: string; id: string }): string {
  return `The provider ${provider} refused the workspace's own key ${id}, or its account`;
}

/** @param failure Stripe's code */
export function failedTopUpText({ id, amount, failure }: { id: string; amount: NanoUsd; failure: string }): string {
  return `The top-up ${id} of ${formatUsd(amount).slice(0, -7)} USD failed: ${failure}`;
}

/** @param counts by severity, such as `{ critical: 1, high: 2 }`; `unknown` are those without one */
export function newFindingsText({
  id,
  name,
  counts,
}: {
  id: string;
  name: string;
  counts: Readonly<Record<string, number>>;
}): string {
  const found = Object.entries(counts).filter(([, count]) => count > 0);
  const total = found.reduce((sum, [, count]) => sum + count, 0);
  const parts = found.map(([severity, count]) => `${count} ${severity === "unknown" ? "without a severity" : severity}`);
  return `The project "${name}" (${id}) has ${total} new ${total === 1 ? "finding" : "findings"}: ${parts.join(", ")}`;
}

interface EndedRisk {
  /** The issue's name. */
  name: string;
  component: string;
  version: string;
  acceptedBy: string;
  acceptedUntil: string;
}

/** @param count how many findings are open again @param first the most severe one */
export function endedRisksText({
  id,
  name,
  count,
  first,
}: {
  id: string;
  name: string;
  count: number;
  first: EndedRisk;
}): string {
  const project = `the project "${name}" (${id})`;
  const one = `${first.name} in ${first.component} ${first.version}`;
  const accepted = `${first.acceptedBy} accepted the risk until ${first.acceptedUntil}`;
  if (count === 1) return `${one} of ${project} is open again: ${accepted}`;
  return `${count} findings of ${project} are open again since their accepted risk has ended, such as ${one}: ${accepted}`;
}

/** @param period such as `2026-11-20` or `the week from 2026-11-16` */
export function usageText({
  period,
  cost,
  requests,
  errors,
}: {
  period: string;
  cost: NanoUsd;
  requests: number;
  errors: number;
}): string {
  const count = `${requests.toLocaleString("en-US")} ${requests === 1 ? "request" : "requests"}`;
  return `In ${period} the workspace spent ${usd(cost)} USD with ${count}, of which ${errors.toLocaleString("en-US")} failed`;
}

// What an alert would say, with made-up facts, for people who set one.

/** A text of each kind, by the functions that write the real ones. @param percent the threshold @param amount of a balance */
export function exampleText(
  kind: AlertKind,
  { percent, amount, period }: { percent: number; amount: NanoUsd; period: string },
): string {
  if (kind === "balance") return balanceAlert({ balance: amount - amount / 50n, amount }).text;
  if (kind === "provider_key_refused") return refusedKeyText({ provider: "openai", id: "own-…" });
  if (kind === "top_up_failed") return failedTopUpText({ id: "top-…", amount: 20_000_000_000n, failure: "card_declined" });
  if (kind === "new_findings") return newFindingsText({ id: "prj_…", name: "web shop", counts: { critical: 1, high: 2 } });
  if (kind === "accepted_risk_ended") return endedRisksText({ id: "prj_…", name: "web shop", count: 1, first: exampleRisk });
  if (kind === "usage_day" || kind === "usage_week" || kind === "usage_month")
    return usageText({ period: examplePeriods[kind], cost: 12_340_000_000n, requests: 1_234, errors: 3 });
  const limit = 10_000_000_000n;
  const one = { key: { subject: "key-…", name: "production" }, member: { subject: "dev@example.com", name: "" } };
  const { subject, name } = one[watchedBy(kind) ?? "key"];
  return limitAlert(kind, { subject, name, owner: null, spent: (limit * BigInt(percent)) / 100n, limit, percent, period }).text;
}

/** At least two decimals, and more only if they are not zero. */
function usd(amount: NanoUsd): string {
  return formatUsd(amount).replace(/0{1,7}$/, "");
}

const exampleRisk = {
  name: "CVE-2021-44228",
  component: "log4j-core",
  version: "2.14.1",
  acceptedBy: "dev@example.com",
  acceptedUntil: "2026-11-20",
};

const examplePeriods = { usage_day: "2026-11-20", usage_week: "the week from 2026-11-16", usage_month: "2026-11" };
