/** Formats answers as aligned text for people. */
import type { Verb } from "./verb.ts";

/** A list becomes a table; a single object, a line for each field. Both show the verb's columns, or all fields. */
export function print(verb: Verb, body: Record<string, unknown>): string {
  const { data } = body;
  if (!Array.isArray(data)) return columns((verb.columns ?? Object.keys(body)).map((field) => [field, shown(body[field])]));
  const rows: Record<string, unknown>[] = data;
  const [first] = rows;
  if (!first) return "(none)";
  const fields = verb.columns ?? Object.keys(first);
  return columns([fields.map((field) => field.toUpperCase()), ...rows.map((row) => fields.map((field) => shown(row[field])))]);
}

/** Aligns cells in columns. The last cell of a line is not padded. */
export function columns(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, cell.length);
  const line = (row: readonly string[]): string => row.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join("  ");
  return rows.map((row) => line(row).trimEnd()).join("\n");
}

/** One value in a cell. */
export function shown(value: unknown): string {
  if (value === null || value === undefined) return "-";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value)) return value.length === 0 ? "-" : value.map(shown).join(", ");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
