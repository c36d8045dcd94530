/**
 * Writes a whole list of findings as CSV or SARIF, to a file or to standard output. It reads the list page by page, up to what the format's
 * readers accept, and says if more remain.
 */
import { writeFileSync } from "node:fs";
import { isAbsolute, relative, resolve, sep } from "node:path";
import { csvText } from "../../src/http/csv-response.ts";
import type { FindingRow } from "../../src/security/findings/lists/list-rows.ts";
import type { FindingPage } from "../../src/security/findings/lists/search-findings.ts";
import { sarifOf, sarifResultsMax, type Notes } from "../../src/security/findings/details/sarif.ts";
import { projectFindingsMax } from "../../src/security/limits.ts";
import { answerAs, CallError } from "./call.ts";
import { UsageError } from "./value.ts";
import type { LocalAnswer, Sending } from "./verb.ts";

type Format = "csv" | "sarif";

export interface ReportFields {
  format: Format | null;
  output: string | null;
  location: string | null;
}

/** Separates the report's fields from the others. @throws UsageError for a file or a place without a format */
export function readReport(fields: Record<string, unknown>): { report: ReportFields; rest: Record<string, unknown> } {
  const { format, output, location, ...rest } = fields;
  const report = { format: formatOf(format), output: textOf(output), location: textOf(location) };
  if (report.format === null && report.output !== null) throw new UsageError("--output needs --format csv or --format sarif");
  if (report.format !== "sarif" && report.location !== null) throw new UsageError("--location needs --format sarif");
  return { report, rest };
}

function formatOf(word: unknown): Format | null {
  return word === "csv" || word === "sarif" ? word : null;
}

function textOf(value: unknown): string | null {
  return value === undefined ? null : String(value);
}

/**
 * The place of findings in SARIF. GitHub shows a file only by its path from the folder of the repository, which is usually the working
 * folder.
 */
export function placeOf({ given, isSarif }: { given: string | null; isSarif: boolean }): {
  path: string | null;
  warnings: string[];
} {
  if (given === null || !isSarif) return { path: given, warnings: [] };
  const inside = relative(process.cwd(), resolve(given));
  if (inside !== "" && !isAbsolute(inside) && inside.split(sep)[0] !== "..") return { path: inside, warnings: [] };
  const warning = `SARIF has "${given}", which is not in the working folder, so code scanning shows no file: --location names one of the repository`;
  return { path: given, warnings: [warning] };
}

interface Report {
  format: Format;
  output: string | null;
  /** A path in the repository, for SARIF. */
  locationOf: (finding: FindingRow) => string;
  /** The filters of `GET /findings`. */
  query: Record<string, unknown>;
  /** What the scan of one project left out; absent: the list covers several. */
  notes?: Notes;
}

/** @throws CallError also when the file cannot be written */
export async function reportFindings(
  { format, output, locationOf, query, notes }: Report,
  get: Sending["get"],
): Promise<LocalAnswer> {
  const most = format === "sarif" ? sarifResultsMax : projectFindingsMax;
  const { findings, isCut } = await allFindings({ query, most }, get);
  const errors = isCut ? [`Only the ${most} most severe findings are in the file: there are more`] : [];
  const sarif = format === "sarif" ? sarifOf(findings, locationOf, notes) : null;
  const document = sarif === null ? csvOf(findings) : `${JSON.stringify(sarif, null, 2)}\n`;
  const body = sarif === null ? { data: findings } : { ...sarif };
  if (output === null) return { body, text: document.trimEnd(), errors };
  try {
    writeFileSync(output, document);
  } catch (error) {
    throw new CallError(`Cannot write "${output}": ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
  return { body: { output, findings: findings.length }, text: `${output}: ${findings.length} findings`, errors };
}

const csvColumns = [
  "id",
  "cve_id",
  "severity",
  "cvss_score",
  "severity_basis",
  "status",
  "false_positive",
  "component",
  "component_version",
  "ecosystem",
  "purl",
  "fix_version",
  "project",
  "project_id",
  "first_seen",
  "last_seen",
] as const satisfies (keyof FindingRow)[];

function csvOf(findings: readonly FindingRow[]): string {
  const cells = (finding: FindingRow) => csvColumns.map((column) => cellOf(finding[column]));
  return csvText({ columns: csvColumns, rows: findings.map(cells) });
}

function cellOf(value: string | number | boolean | null): string | number | null {
  return typeof value === "boolean" ? String(value) : value;
}

const pageRows = 200;

interface FoundFindings {
  findings: FindingRow[];
  /** Whether there are more than `most`. */
  isCut: boolean;
}

/** @param query the filters of `GET /findings`. @param most the list ends after this many @throws CallError */
async function allFindings(
  { query, most }: { query: Record<string, unknown>; most: number },
  get: Sending["get"],
): Promise<FoundFindings> {
  const findings: FindingRow[] = [];
  let after: string | null = null;
  do {
    const answer = await get("/findings", { ...query, limit: pageRows, ...(after !== null && { after }) });
    const { data, next } = answerAs<FindingPage>(answer);
    findings.push(...data);
    after = next;
  } while (after !== null && findings.length < most);
  return { findings: findings.slice(0, most), isCut: after !== null || findings.length > most };
}
