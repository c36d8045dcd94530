/**
 * Formats answers as aligned text, and fits it to a terminal: bold heads, cut tables, wrapped sentences.
 *
 * Output to a pipe or a file stays as it is.
 */
import type { RemoteVerb } from "./verb.ts";

/** A list becomes a table; a single object, a line for each field. Both show the verb's columns, or all fields. */
export function print({ columns: shownFields }: Pick<RemoteVerb, "columns">, body: Record<string, unknown>): string {
  const { data } = body;
  if (!Array.isArray(data)) return columns((shownFields ?? Object.keys(body)).map((field) => [field, shown(body[field])]));
  const rows: Record<string, unknown>[] = data;
  const [first] = rows;
  if (!first) return "(none)";
  const fields = shownFields ?? Object.keys(first);
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

export interface Screen {
  /** Characters of a line. */
  width: number;
  colours: boolean;
}

const widthMin = 40;

/** A table: its first line in bold, and lines that are cut where the screen ends. `--json` shows everything. */
export function fitTable(text: string, { width, colours }: Screen): string {
  const [head = "", ...rows] = text.split("\n").map((line) => cut(line, width));
  return [rows.length > 0 && colours ? `\x1b[1m${head}\x1b[22m` : head, ...rows].join("\n");
}

/** Sentences and lists: long lines go on below the second column of their line. */
export function wrapText(text: string, { width }: Screen): string {
  if (width < widthMin) return text;
  return text
    .split("\n")
    .flatMap((line) => wrapLine(line, width))
    .join("\n");
}

/** The beginning of a message about a failure. */
export function failurePrefix(colours: boolean): string {
  return colours ? "\x1b[31mweir:\x1b[39m" : "weir:";
}

function cut(line: string, width: number): string {
  return line.length <= width || width < widthMin ? line : `${line.slice(0, width - 1)}…`;
}

function wrapLine(line: string, width: number): string[] {
  // A command stays on one line, so that it can be copied.
  if (line.startsWith("Example: ")) return [line];
  const [columns = ""] = /^ *\S.*?\s{2,}/.exec(line) ?? [];
  const indent = columns.length < width / 2 ? columns.length : 4;
  const lines: string[] = [];
  let rest = line;
  while (rest.length > width) {
    const room = rest.slice(0, width + 1);
    const end = room.lastIndexOf(" ");
    // A word that is too long stays whole, so that it can be copied.
    if (end <= indent) break;
    lines.push(room.slice(0, end).trimEnd());
    rest = " ".repeat(indent) + rest.slice(end).trimStart();
  }
  return [...lines, rest];
}
