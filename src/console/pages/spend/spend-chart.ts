/** The spend of a month as bars by day. */
import { markup, type Html } from "../../../http/html.ts";
import { barChart } from "../../look/charts/bar-chart.ts";
import { money, roundedUsd } from "../../look/money.ts";
import type { MonthSpend } from "./month-spend.ts";

interface SpendChart {
  id: string;
  title: string;
  spend: MonthSpend;
  zone: string;
  empty: Html;
}

export function spendChart({ id, title, spend: { days, groups, rest }, zone, empty }: SpendChart): Html {
  const chart = barChart({
    id,
    title,
    days,
    zone,
    series: groups.filter(({ cost }) => cost > 0n).map(({ label, days: values }) => ({ label, values })),
    words: roundedUsd,
    exact: money,
    empty,
  });
  return markup`${chart}${rest === null ? null : markup`<p class="under">The bars lack ${money(rest.cost_usd)}, the sum of the ${rest.rows.toLocaleString("en-US")} smallest parts of days.</p>`}`;
}
