/** The rows of the list as a file: the same filters, up to a bound. */
import { listRowsMax } from "../../../http/limits.ts";
import type { FindingRow } from "../../../security/findings/lists/list-rows.ts";
import type { FindingPage } from "../../../security/findings/lists/search-findings.ts";
import { findingCsvRowsMax } from "../../limits.ts";
import type { CsvFile, PageCall } from "../../page.ts";

/** A search that matches few rows reads no more pages than this. */
const pagesMax = 2 * (findingCsvRowsMax / listRowsMax);

const columns: [string, (row: FindingRow) => string | number | null][] = [
  ["id", (row) => row.id],
  ["vulnerability", (row) => row.cve_id],
  ["severity", (row) => row.severity],
  ["cvss_score", (row) => row.cvss_score],
  ["status", (row) => row.status],
  ["false_positive", (row) => String(row.false_positive)],
  ["component", (row) => row.component],
  ["version", (row) => row.component_version],
  ["ecosystem", (row) => row.ecosystem],
  ["fix_version", (row) => row.fix_version],
  ["project", (row) => row.project],
  ["project_id", (row) => row.project_id],
  ["first_seen", (row) => row.first_seen],
  ["last_seen", (row) => row.last_seen],
];

export async function findingCsvRows(call: PageCall, input: Record<string, string>): Promise<CsvFile> {
  const rows: FindingRow[] = [];
  let after = input["after"] ?? null;
  for (let pages = 0; pages < pagesMax && rows.length < findingCsvRowsMax; pages++) {
    const limit = String(Math.min(listRowsMax, findingCsvRowsMax - rows.length));
    const page = await call.control<FindingPage>("GET", "/findings", { ...input, limit, ...(after !== null && { after }) });
    rows.push(...page.data);
    after = page.next;
    if (after === null) break;
  }
  return {
    name: "findings",
    columns: columns.map(([name]) => name),
    rows: rows.map((row) => columns.map(([, read]) => read(row))),
  };
}
