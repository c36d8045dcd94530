/** Tables and figures of a document. */

export function table(head: string[], lines: string[][]): string {
  const row = (cells: string[]): string => `| ${cells.join(" | ")} |`;
  return [row(head), row(head.map(() => "---")), ...lines.map(row)].join("\n");
}

/** Three digits that count. */
export function shown(value: number): string {
  if (!Number.isFinite(value)) return "–";
  return Math.abs(value) >= 100 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(3)));
}

export function mebibytes(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(0);
}
