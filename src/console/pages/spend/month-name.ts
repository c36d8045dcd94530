import type { Month } from "../../../kernel/clock.ts";

const names = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];

/** `November 2026` */
export function monthName(month: Month): string {
  return `${names[Number(month.slice(5, 7)) - 1] ?? ""} ${month.slice(0, 4)}`;
}
