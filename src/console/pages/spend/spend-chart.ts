/** The spend of a month as bars by day. */
import type { Html } from "../../../http/html.ts";
import { barChart } from "../../look/charts/bar-chart.ts";
import { exactUsd, money, roundedUsd } from "../../look/money.ts";
import type { MonthSpend } from "./month-spend.ts";

interface SpendChart {
  id: string;
  title: string;
  spend: MonthSpend;
  zone: string;
  empty: Html;
}

export function spendChart({ id, title, spend: { days, groups, others }, zone, empty }: SpendChart): Html {
  const drawn = groups.filter(({ days: values }) => values.some((value) => value > 0n));
  const series = drawn.map(({ label, days: values }) => ({ label, values }));
  const left = others === null ? [] : [{ label: `${others.count} others`, values: others.days }];
  return barChart({
    id,
    title,
    days,
    zone,
    series: [...series, ...left.filter(({ values }) => values.some((value) => value > 0n))],
    words: roundedUsd,
    scaleWords: exactUsd,
    exact: money,
    empty,
  });
}
