/**
 * A table as a file: https://www.rfc-editor.org/rfc/rfc4180. A cell that a spreadsheet would run as a formula, even after spaces or in wide
 * characters, gets an apostrophe: https://owasp.org/www-community/attacks/CSV_Injection
 */

interface CsvTable {
  columns: readonly string[];
  rows: readonly (readonly (string | number | null)[])[];
}

export interface CsvFile extends CsvTable {
  /** The name of the file without its extension. */
  name: string;
}

/** The text of the file. Its last line also ends with a line break. */
export function csvText({ columns, rows }: CsvTable): string {
  return [columns, ...rows].map((row) => `${row.map(cell).join(",")}\r\n`).join("");
}

export function csvResponse({ name, ...table }: CsvFile): Response {
  return fileOfRows(csvText(table), { name, ending: "csv", type: "text/csv; charset=utf-8" });
}

/** A line of JSON for each row. @param name of the file without its extension */
export function ndjsonResponse(name: string, rows: readonly object[]): Response {
  const text = rows.map((row) => `${JSON.stringify(row)}\n`).join("");
  return fileOfRows(text, { name, ending: "ndjson", type: "application/x-ndjson" });
}

function fileOfRows(text: string, { name, ending, type }: { name: string; ending: string; type: string }): Response {
  return new Response(text, {
    headers: {
      "content-type": type,
      "content-disposition": `attachment; filename="${name.replace(/[^\w.-]+/g, "-")}.${ending}"`,
      "x-content-type-options": "nosniff",
      "cache-control": "no-store",
    },
  });
}

/** An apostrophe in front keeps a text from being run as a formula. */
function cell(value: string | number | null): string {
  if (value === null) return "";
  const text =
    typeof value === "string" && /^[\s=+\-@＝＋－＠]/.test(value) && !/^-?[\d.]+$/.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
