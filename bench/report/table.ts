/** Formats tables and figures of a document. */
import type { Summary } from "../load/histogram.ts";

export function table(head: string[], lines: string[][]): string {
  const row = (cells: string[]): string => `| ${cells.join(" | ")} |`;
  return [row(head), row(head.map(() => "---")), ...lines.map(row)].join("\n");
}

/** Formats a number with three significant digits. */
export function shown(value: number): string {
  if (!Number.isFinite(value)) return "–";
  return Math.abs(value) >= 100 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(3)));
}

/** Formats milliseconds, such as "1.2 / 30.5", with dashes for missing figures. */
export function percentiles(summary: Summary | null | undefined, ...which: (keyof Summary)[]): string {
  return which.map((one) => shown(summary?.[one] ?? Number.NaN)).join(" / ");
}

export function mebibytes(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(0);
}
