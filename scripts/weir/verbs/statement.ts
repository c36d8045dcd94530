import { columns } from "../print.ts";
import { rows, text } from "../value.ts";
import { ofWorkspace, workspace, type Verb } from "../verb.ts";

export const statementVerbs: readonly Verb[] = [
  {
    noun: "statement",
    verb: "list",
    summary: "List a workspace's statements of usage, newest first",
    method: "GET",
    path: "/statements",
    flags: [
      ofWorkspace,
      { name: "limit", field: "limit", value: rows, help: "how many closed ones, 1 to 120; default 24" },
      { name: "before", field: "before", value: text, help: "only months before this one, such as 2026-10" },
    ],
    columns: ["number", "closed", "opening_balance_usd", "credits_usd", "refunds_usd", "charges_usd", "closing_balance_usd"],
  },
  {
    noun: "statement",
    verb: "show",
    summary: "Show the statement of a month",
    method: "GET",
    path: "/statements/:id",
    flags: [{ name: "number", field: "id", value: text, required: true, help: "the month, such as 2026-10" }, ofWorkspace],
    show: printStatement,
  },
  {
    noun: "statement",
    verb: "close",
    summary: "Close the statements of months that are over now, and not within a minute",
    method: "POST",
    path: "/statements/close",
    flags: [workspace],
  },
];

/** Formats a statement for people: its amounts, and its lines as a table. */

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

function shown(value: unknown): string {
  if (value === null || value === undefined) return "-";
  return typeof value === "boolean" ? (value ? "yes" : "no") : String(value);
}
