/** A table as a file: https://www.rfc-editor.org/rfc/rfc4180 */

export interface CsvFile {
  /** Of the file, without its ending. */
  name: string;
  columns: readonly string[];
  rows: readonly (readonly (string | number | null)[])[];
}

export function csvResponse({ name, columns, rows }: CsvFile): Response {
  const text = [columns, ...rows].map((row) => row.map(cell).join(",")).join("\r\n");
  return new Response(`${text}\r\n`, {
    headers: {
      "content-type": "text/csv; charset=utf-8",
      "content-disposition": `attachment; filename="${name.replace(/[^\w.-]+/g, "-")}.csv"`,
      "x-content-type-options": "nosniff",
      "cache-control": "no-store",
    },
  });
}

/** A text that a spreadsheet would run as a formula, also after spaces and in wide characters, gets an apostrophe: https://owasp.org/www-community/attacks/CSV_Injection */
function cell(value: string | number | null): string {
  if (value === null) return "";
  const text =
    typeof value === "string" && /^[\s=+\-@＝＋－＠]/.test(value) && !/^-?[\d.]+$/.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
