/** Formats usage for people: a table with bars, the rest beyond the rows, and the total. */
import { columns } from "../print.ts";

type Fields = Record<string, unknown>;

const names = ["period", "key_name", "key_id", "member", "model", "provider", "endpoint"];
const sums = ["requests", "errors", "prompt_tokens", "completion_tokens", "cost_usd"];
const barLength = 20;

export function printUsage(body: Record<string, unknown>): string {
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
  // Without a name there is no row but the total.
  if (shown.length === 0) return columns([head, line(total ?? {})]);
  return columns([
    head,
    ...rows.map((row) => [...line(row), barOf(costOf(row), most)]),
    ...(rest && "rows" in rest ? [named(`(${String(rest["rows"])} more)`, rest)] : []),
    named("(total)", total ?? {}),
  ]);
}

/** For its length alone: amounts are shown as they came. */
function costOf({ cost_usd: cost }: Fields): number {
  return Number(cost);
}

function barOf(cost: number, most: number): string {
  return most === 0 ? "" : "█".repeat(Math.round((barLength * cost) / most));
}
