/**
 * Formats usage, statements and the request log for people.
 */
import { cliColumns } from "../../../src/gateway/generation-fields.ts";
import { formatUsd, parseUsd } from "../../../src/kernel/money.ts";
import { columns, print, shown } from "../print.ts";

type Fields = Record<string, unknown>;

const names = ["period", "key_name", "key_id", "member", "model", "provider", "endpoint"];
const sums = ["requests", "errors", "prompt_tokens", "completion_tokens", "cost_usd"];
const barLength = 20;

/** A table with bars, the rest that no row shows, and the total. */
export function printUsage(body: Fields): string {
  const rows: Fields[] = Array.isArray(body["data"]) ? body["data"] : [];
  const [rest, total]: Fields[] = [Object(body["rest"]), Object(body["total"])];
  const shown = names.filter((name) => rows.some((row) => name in row));
  const most = Math.max(...rows.map(costOf), 0);
  const line = (row: Fields): string[] => [...shown, ...sums].map((name) => String(row[name] ?? ""));
  const named = (name: string, row: Fields): string[] => [
    name,
    ...shown.slice(1).map(() => ""),
    ...line(row).slice(shown.length),
  ];
  const head = [...shown, ...sums].map((name) => name.toUpperCase());
  // Without a name there is only the total.
  if (shown.length === 0) return columns([head, line(total ?? {})]);
  return columns([
    head,
    ...rows.map((row) => [...line(row), barOf(costOf(row), most)]),
    ...(rest && "rows" in rest ? [named(`(${String(rest["rows"])} more)`, rest)] : []),
    named("(total)", total ?? {}),
  ]);
}

/** A table of periods and names, with the sum of all names, the time before, and the total of each. */
export function printChart(body: Fields): string {
  const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
  const named = (name: string, given: unknown) =>
    ({ name, ...Object(given) }) as { name: string; values?: unknown; total?: unknown };
  const rows: Fields[] = Array.isArray(body["data"]) ? body["data"] : [];
  const drawn = rows.filter(({ values }) => Array.isArray(values)).map((row) => named(String(row["name"]), row));
  const around = [
    ...(body["others"] ? [named("others", body["others"])] : []),
    ...(rows.length > 1 ? [named(body["unit"] === "ms" ? "answers" : "total", body["sums"])] : []),
    ...(body["before"] ? [named("before", body["before"])] : []),
  ];
  const all = [...drawn, ...around];
  const periods = list(body["periods"]).map((period) => String(Object(period).period));
  const table = columns([
    ["PERIOD", ...all.map(({ name }) => name)],
    ...periods.map((period, index) => [period, ...all.map(({ values }) => shown(list(values)[index] ?? null))]),
    ["(total)", ...all.map(({ total }) => shown(total ?? null))],
  ]);
  const { total_usd: total, usd_a_day: pace } = Object(body["forecast"]);
  return total === undefined
    ? table
    : `${table}\nforecast: ${String(total)} USD at the end of the month, at ${String(pace)} USD a day`;
}

/** Only for the length of a bar: amounts are shown as they came. */
function costOf({ cost_usd: cost }: Fields): number {
  return Number(cost);
}

function barOf(cost: number, most: number): string {
  return most === 0 ? "" : "█".repeat(Math.round((barLength * cost) / most));
}

const facts =
  "number reference closed closed_at opening_balance_usd charges_usd closing_balance_usd of_previous_month_usd of_next_month_usd sha256";
const movementColumns = ["at", "kind", "ref", "usd"];
const lineColumns = ["key_name", "member", "model", "provider", "endpoint", "tier_above_tokens", "requests", "cost_usd"];
const ownKeyColumns = ["provider", "model", "requests", "list_cost_usd"];

export function printStatement(body: Fields): string {
  const known = facts
    .split(" ")
    .filter((name) => name in body)
    .map((name) => [name, shown(body[name])]);
  const parts = [
    columns(known),
    table("credits", body, movementColumns),
    table("refunds", body, movementColumns),
    table("lines", body, lineColumns),
    table("own_key", body, ownKeyColumns),
  ];
  return parts.filter((part) => part !== "").join("\n\n");
}

/** Empty without rows. */
function table(name: string, body: Fields, fields: readonly string[]): string {
  const rows: Fields[] = Array.isArray(body[name]) ? body[name] : [];
  if (rows.length === 0) return "";
  return `${name}\n${print({ columns: fields }, { data: rows })}`;
}

/** A table, and below it the sums of the shown rows and how to continue. */
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
