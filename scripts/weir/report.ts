/**
 * Writes a whole list of findings as CSV or SARIF, to a file or to standard output. It reads the list page by page, up to what the format's
 * readers accept, and says if more remain.
 *
 * SARIF is the Static Analysis Results Interchange Format 2.1.0 (https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html), with all
 * that GitHub requires of it
 * (https://docs.github.com/en/code-security/code-scanning/integrating-with-code-scanning/sarif-support-for-code-scanning).
 */
import { writeFileSync } from "node:fs";
import { csvText } from "../../src/http/csv-response.ts";
import { digestOf } from "../../src/kernel/json.ts";
import { shortened } from "../../src/kernel/text.ts";
import { version } from "../../src/process/version.ts";
import type { FindingRow } from "../../src/security/findings/lists/list-rows.ts";
import type { FindingPage } from "../../src/security/findings/lists/search-findings.ts";
import type { Severity } from "../../src/security/findings/schema.ts";
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

interface Report {
  format: Format;
  output: string | null;
  locationOf: LocationOf;
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

/** GitHub accepts this many results per file, and this many rules. */
const sarifResultsMax = 25_000;

const levels: Record<Severity, "error" | "warning" | "note"> = {
  critical: "error",
  high: "error",
  medium: "warning",
  low: "note",
};
/** The middle score of each severity, for GitHub, which derives severities from scores alone. */
const usualScores: Record<Severity, string> = { critical: "9.5", high: "8.0", medium: "5.5", low: "2.0" };
/** GitHub shows at most 1,000 characters. */
const textCharactersMax = 1_000;

type LocationOf = (finding: FindingRow) => string;

export interface Notes {
  /** false: nothing could be compared, so an empty result means nothing. */
  isComplete: boolean;
  /** What was left out, one sentence each. */
  left: readonly string[];
}

/**
 * One run with a rule for each vulnerability and a result for each finding.
 * @param locationOf a path in the repository: GitHub shows the finding there
 */
export function sarifOf(
  findings: readonly FindingRow[],
  locationOf: LocationOf,
  { isComplete, left }: Notes = { isComplete: true, left: [] },
) {
  const byRule = Map.groupBy(findings, ({ cve_id: id }) => id);
  const ruleIndexes = new Map([...byRule.keys()].map((id, index) => [id, index]));
  const seen = new Map<string, number>();
  return {
    $schema: "https://raw.githubusercontent.com/oasis-tcs/sarif-spec/master/Schemata/sarif-schema-2.1.0.json",
    version: "2.1.0",
    runs: [
      {
        tool: {
          driver: {
            name: "Weir",
            semanticVersion: version,
            rules: [...byRule].map(([id, found]) => ruleOf(id, found)),
          },
        },
        invocations: [
          {
            executionSuccessful: isComplete,
            toolExecutionNotifications: left.map((text) => ({ level: isComplete ? "warning" : "error", message: { text } })),
          },
        ],
        results: findings.map((finding) => ({
          ruleId: finding.cve_id,
          ruleIndex: ruleIndexes.get(finding.cve_id),
          level: levelOf(finding.severity),
          message: { text: messageOf(finding) },
          locations: [{ physicalLocation: placeOf(locationOf(finding)) }],
          partialFingerprints: { primaryLocationLineHash: fingerprintOf(finding, seen) },
          ...(isSuppressed(finding) && { suppressions: [{ kind: "external", status: "accepted" }] }),
        })),
      },
    ],
  };
}

function ruleOf(id: string, found: readonly FindingRow[]) {
  const [first] = found;
  const components = [...new Set(found.map(({ component }) => component))];
  const fixes = [...new Set(found.map(fixOf))];
  const severity = first?.severity ?? null;
  const score = first?.cvss_score?.toFixed(1) ?? (severity === null ? null : usualScores[severity]);
  return {
    id,
    name: id,
    shortDescription: { text: shortened(`${id} in ${components.join(", ")}`, textCharactersMax) },
    fullDescription: { text: shortened(`Vulnerability ${id} affects ${components.join(", ")}`, textCharactersMax) },
    help: { text: shortened(fixes.join(" "), textCharactersMax) },
    helpUri: `https://osv.dev/vulnerability/${encodeURIComponent(id)}`,
    defaultConfiguration: { level: levelOf(severity) },
    properties: {
      tags: ["security", "vulnerability"],
      precision: "high",
      ...(score !== null && { "security-severity": score }),
    },
  };
}

function levelOf(severity: Severity | null): "error" | "warning" | "note" {
  return severity === null ? "note" : levels[severity];
}

function messageOf(finding: FindingRow): string {
  const { component, component_version: installed, cve_id: id, severity, cvss_score: score } = finding;
  const facts = [severity ?? "severity unknown", ...(score === null ? [] : [`CVSS ${score.toFixed(1)}`])];
  return `${`${component} ${installed}`.trim()} has ${id} (${facts.join(", ")}). ${fixOf(finding)}`;
}

function fixOf({ component, component_version: installed, fix_version: fix }: FindingRow): string {
  if (fix === null) return `No version of ${component} that fixes it is known.`;
  return `Upgrade ${`${component} ${installed}`.trim()} to ${fix}.`;
}

function placeOf(path: string) {
  const uri = path
    .replaceAll("\\", "/")
    .replace(/^\.\//, "")
    .split("/")
    .map((part) => encodeURIComponent(part))
    .join("/");
  return { artifactLocation: { uri }, region: { startLine: 1, startColumn: 1, endLine: 1, endColumn: 2 } };
}

/** Stays the same when the component moves to another affected version; several versions of it are counted. */
function fingerprintOf({ cve_id: id, ecosystem, component, project }: FindingRow, seen: Map<string, number>): string {
  const hash = digestOf([project, ecosystem, component, id]).slice(0, 16);
  const count = (seen.get(hash) ?? 0) + 1;
  seen.set(hash, count);
  return `${hash}:${count}`;
}

function isSuppressed({ status, false_positive: falsePositive }: FindingRow): boolean {
  return falsePositive || status === "ignored" || status === "not_affected";
}
