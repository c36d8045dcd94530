/** The sums of a month by key, member, model or provider. */
import { parseUsd } from "../../../kernel/money.ts";
import { markup, type Html } from "../../../http/html.ts";
import { address } from "../../look/forms/address.ts";
import { money } from "../../look/money.ts";
import { table, type Column } from "../../look/table.ts";
import { userText } from "../../look/user-text.ts";
import type { PageCall } from "../../page.ts";
import { nextMonth, type Dimension, type MonthSpend, type SpendGroup, type SpendRequest } from "./month-spend.ts";

interface Shown {
  spend: MonthSpend;
  request: SpendRequest;
  /** Of the dimension. */
  name: string;
}

export function spendTable(call: PageCall, { spend, request, name }: Shown): Html {
  const { total } = spend;
  const columns: Column<SpendGroup>[] = [
    { label: name, kind: "text", cell: (group) => requestsLink(call, { group, request }) },
    { label: "Requests", kind: "number", cell: ({ requests }) => count(requests) },
    { label: "Failed", kind: "number", cell: ({ errors }) => count(errors) },
    { label: "Tokens in", kind: "number", cell: ({ promptTokens }) => count(promptTokens) },
    { label: "Tokens out", kind: "number", cell: ({ completionTokens }) => count(completionTokens) },
    { label: "Cost", kind: "money", cell: ({ cost }) => money(cost) },
  ];
  return table({
    caption: `Sums of the month by ${name.toLowerCase()}`,
    columns,
    rows: [...spend.groups, ...restOf(spend)],
    empty: markup``,
    totals: [
      "Total",
      ...[total.requests, total.errors, total.prompt_tokens, total.completion_tokens].map(count),
      money(total.cost_usd),
    ],
  });
}

/** The smallest parts, so that the rows add up to the sum. */
function restOf({ rest, days }: MonthSpend): SpendGroup[] {
  if (rest === null) return [];
  const { rows, requests, errors, prompt_tokens: promptTokens, completion_tokens: completionTokens } = rest;
  const label = `The ${count(rows)} smallest parts of days`;
  return [
    {
      id: "",
      label,
      requests,
      errors,
      promptTokens,
      completionTokens,
      cost: parseUsd(rest.cost_usd),
      listCost: 0n,
      days: days.map(() => 0n),
    },
  ];
}

/** Filters of the log; a provider is none of them. */
const filterNames: Partial<Record<Dimension, string>> = { key: "key", member: "member", model: "model" };

function requestsLink(
  call: PageCall,
  { group: { id, label }, request: { month, zone, by } }: { group: SpendGroup; request: SpendRequest },
): Html {
  const filter = filterNames[by];
  if (filter === undefined || id === "") return userText(label);
  const last = new Date(Date.parse(`${nextMonth(month)}-01`) - 1).toISOString().slice(0, 10);
  const query = { [filter]: id, from: `${month}-01`, to: last, ...(zone !== "UTC" && { tz: zone }) };
  return markup`<a href="${address(call.link("/requests"), query)}">${userText(label)}</a>`;
}

function count(value: number): string {
  return value.toLocaleString("en-US");
}
