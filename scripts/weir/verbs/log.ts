/** Formats the log for people: a table, and below it the sums of the shown rows and how to go on. */
import { formatUsd, parseUsd } from "../../../src/kernel/money.ts";
import { columns, shown } from "../print.ts";

type Fields = Record<string, unknown>;

/** What matters most comes first: a narrow terminal cuts the rest off. */
const logColumns = [
  "at",
  "model",
  "status",
  "code",
  "cost_usd",
  "prompt_tokens",
  "completion_tokens",
  "duration_ms",
  "member",
  "generation_id",
] as const;

export function printLog(body: Fields): string {
  const rows: Fields[] = Array.isArray(body["data"]) ? body["data"] : [];
  const searched = typeof body["searched"] === "number" ? [`${body["searched"]} generations were read to find them`] : [];
  const more = typeof body["next"] === "string" ? [`Older ones: --before ${body["next"]}. Sums of all: weir usage`] : [];
  const below = [...searched, ...more].map((line) => `\n${line}`).join("");
  if (rows.length === 0) return `(none)${below}`;
  return `${columns([
    logColumns.map((name) => name.toUpperCase()),
    ...rows.map((row) => logColumns.map((name) => shown(row[name]))),
    logColumns.map((name) => totalOf(name, rows)),
  ])}${below}`;
}

function totalOf(name: (typeof logColumns)[number], rows: readonly Fields[]): string {
  if (name === "at") return `(total of ${rows.length})`;
  if (name === "cost_usd") return formatUsd(rows.reduce((sum, row) => sum + parseUsd(String(row[name])), 0n));
  if (name === "status") return `${rows.filter(({ code }) => code !== null).length} failed`;
  if (name !== "prompt_tokens" && name !== "completion_tokens") return "";
  return String(rows.reduce((sum, row) => sum + Number(row[name]), 0));
}
