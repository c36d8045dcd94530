/** Formats the log for people: a table, and below it the sums of the shown rows and how to go on. */
import { cliColumns } from "../../../src/gateway/generation-fields.ts";
import { formatUsd, parseUsd } from "../../../src/kernel/money.ts";
import { columns, shown } from "../print.ts";

type Fields = Record<string, unknown>;

export function printLog(body: Fields): string {
  const rows: Fields[] = Array.isArray(body["data"]) ? body["data"] : [];
  const searched = typeof body["searched"] === "number" ? [`${body["searched"]} generations were read to find them`] : [];
  const more = typeof body["next"] === "string" ? [`Older ones: --before ${body["next"]}. Sums of all: weir usage`] : [];
  const below = [...searched, ...more].map((line) => `\n${line}`).join("");
  if (rows.length === 0) return `(none)${below}`;
  return `${columns([
    cliColumns.map((name) => name.toUpperCase()),
    ...rows.map((row) => cliColumns.map((name) => shown(row[name]))),
    cliColumns.map((name) => totalOf(name, rows)),
  ])}${below}`;
}

function totalOf(name: (typeof cliColumns)[number], rows: readonly Fields[]): string {
  if (name === "at") return `(total of ${rows.length})`;
  if (name === "cost_usd") return formatUsd(rows.reduce((sum, row) => sum + parseUsd(String(row[name])), 0n));
  if (name === "status") return `${rows.filter(({ code }) => code !== null).length} failed`;
  if (name !== "prompt_tokens" && name !== "completion_tokens") return "";
  return String(rows.reduce((sum, row) => sum + Number(row[name]), 0));
}
