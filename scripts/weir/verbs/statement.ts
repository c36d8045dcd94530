/** Formats a statement for people: its amounts, and its lines as a table. */
import { columns, shown } from "../print.ts";

type Fields = Record<string, unknown>;

const facts = [
  "number",
  "closed",
  "closed_at",
  "opening_balance_usd",
  "charges_usd",
  "closing_balance_usd",
  "of_previous_month_usd",
  "of_next_month_usd",
  "sha256",
];
const movementColumns = ["at", "kind", "ref", "usd"];
const lineColumns = ["key_name", "member", "model", "provider", "endpoint", "tier_above_tokens", "requests", "cost_usd"];
const ownKeyColumns = ["provider", "model", "requests", "list_cost_usd"];

export function printStatement(body: Fields): string {
  const known = facts.filter((name) => name in body).map((name) => [name, shown(body[name])]);
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
  const lines = rows.map((row) => fields.map((field) => shown(row[field])));
  return `${name}\n${columns([fields.map((field) => field.toUpperCase()), ...lines])}`;
}
