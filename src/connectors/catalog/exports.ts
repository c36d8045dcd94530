/**
 * The whole catalog as one text: NDJSON, CSV or JSON. The same files always give the same bytes: sorted by id, fixed keys, line feeds, no
 * time. CSV is written by hand, since that takes less code than configuring a package to neutralize formulas.
 */
import type { ConnectorCatalog } from "./files/schema.ts";
import { rowOf, type ConnectorRow } from "./row.ts";

export const exportFormats = ["ndjson", "csv", "json"] as const;
export type ExportFormat = (typeof exportFormats)[number];

export const exportTypes: Record<ExportFormat, string> = {
  ndjson: "application/x-ndjson",
  csv: "text/csv; charset=utf-8; header=present",
  json: "application/json",
};

export function exportCatalog(catalog: ConnectorCatalog, format: ExportFormat): string {
  const rows = catalog.connectors.map((connector) => rowOf(connector, catalog));
  return writers[format](rows);
}

const writers: Record<ExportFormat, (rows: ConnectorRow[]) => string> = {
  ndjson: (rows) => rows.map((row) => `${JSON.stringify(row)}\n`).join(""),
  json: (rows) => `${JSON.stringify({ connectors: rows }, null, 2)}\n`,
  csv: (rows) => csvLines([csvColumns.map(([title]) => title), ...rows.map((row) => csvColumns.map(([, cell]) => cell(row)))]),
};

/** The five columns of the specification, then the machine form, with nested values as JSON. */
const csvColumns: readonly [title: string, cell: (row: ConnectorRow) => string][] = [
  ["Connector", ({ name }) => name],
  ["Connect with", ({ columns }) => columns.connect_with],
  ["The form asks for", ({ columns }) => columns.form_asks_for],
  ["Grant at the vendor", ({ columns }) => columns.grant_at_the_vendor],
  ["Vendor docs", ({ columns }) => columns.vendor_docs],
  ["id", ({ id }) => id],
  ["slug", ({ slug }) => slug],
  ["vendor", ({ vendor }) => vendor],
  ["category", ({ category }) => category],
  ["methods", ({ methods }) => methods.join(" ")],
  ["form", ({ form }) => form],
  ["credential_sets", ({ credential_sets }) => JSON.stringify(credential_sets)],
  ["grant", ({ grant }) => JSON.stringify(grant)],
  ["docs", ({ docs }) => docs ?? ""],
  ["mcp", ({ mcp }) => mcp?.url ?? ""],
  ["evidence", ({ evidence }) => JSON.stringify(evidence)],
];

function csvLines(rows: string[][]): string {
  return rows.map((cells) => `${cells.map(csvCell).join(",")}\n`).join("");
}

/** RFC 4180, with an apostrophe before text that a spreadsheet would run as a formula (OWASP, CSV injection). */
function csvCell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
