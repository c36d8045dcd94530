import type { CsvFile } from "../../http/csv-response.ts";
import type { StatementView } from "./schema.ts";

const columns = [
  "key_id",
  "key_name",
  "member",
  "model",
  "provider",
  "endpoint",
  "tier_above_tokens",
  "requests",
  "prompt_tokens",
  "cached_tokens",
  "cache_write_tokens",
  "completion_tokens",
  "cost_usd",
] as const;

/** The lines of a statement as a table. */
export function statementFile({ workspace, number, lines }: StatementView): CsvFile {
  return {
    name: `statement-${workspace.name}-${number}`,
    columns: ["statement", ...columns],
    rows: lines.map((line) => [number, ...columns.map((column) => line[column])]),
  };
}
