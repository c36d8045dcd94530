/**
 * Formats findings, vulnerabilities, projects and the age of advisories for people.
 *
 * Names come from other people's documents, so control characters in them become spaces.
 */
import { advisoriesUpdatedAt, incompleteText, type EcosystemAge } from "../../src/security/advisories/ecosystem-ages.ts";
import type { FindingDetails } from "../../src/security/findings/details/show-finding.ts";
import type { ExploitAge, UrgentFindings } from "../../src/security/findings/lists/exploits.ts";
import type { FindingRow } from "../../src/security/findings/lists/list-rows.ts";
import { basisWords } from "../../src/security/findings/schema.ts";
import { advisoryStaleMs } from "../../src/security/limits.ts";
import type { ProjectView } from "../../src/security/projects/schema.ts";
import type { VulnerabilityRecord } from "../../src/security/vulnerabilities/schema.ts";
import { answerAs } from "./call.ts";
import { columns, shown } from "./print.ts";

const occurrencesShown = 20;

/** A line for each finding. */
export function findingTable(findings: readonly FindingRow[]): string {
  if (findings.length === 0) return "(none)";
  const head = ["ID", "SEVERITY", "SCORE", "VULNERABILITY", "COMPONENT", "FIX", "STATUS", "PROJECT"];
  const rows = findings.map((row) => [
    row.id,
    row.severity ?? "-",
    row.cvss_score?.toFixed(1) ?? "-",
    row.cve_id,
    `${row.component} ${row.component_version}`.trim(),
    row.fix_version ?? "-",
    row.false_positive ? "false positive" : row.status,
    row.project,
  ]);
  return safeColumns([head, ...rows]);
}

/** A table of rows whose names come from documents. */
export function printNamed(body: Record<string, unknown>, fields: readonly string[]): string {
  const { data } = answerAs<{ data: Record<string, unknown>[] }>(body);
  if (data.length === 0) return "(none)";
  return safeColumns([
    fields.map((field) => field.toUpperCase()),
    ...data.map((row) => fields.map((field) => shown(row[field]))),
  ]);
}

/** How old the advisories are, and below them what is known about exploits. */
export function printAges(body: Record<string, unknown>): string {
  const { exploits } = answerAs<{ exploits: ExploitAge[] }>(body);
  const rows = exploits.map(({ source, file_date: date, rows: count, synced_at: at, updated_at: updated }) => {
    const isOld = updated !== null && Date.now() - Date.parse(updated) > advisoryStaleMs;
    return [source, shown(date), String(count), shown(at), updated === null ? "none" : isOld ? "old" : "current"];
  });
  return [
    printNamed(body, ["ecosystem", "known", "sync_began_at", "synced_at", "imported_at", "newest_record"]),
    safeColumns([["EXPLOITS", "FILE_DATE", "ROWS", "SYNCED_AT", "STATE"], ...rows]),
  ].join("\n\n");
}

/** A line for each finding, with what is known about exploits. */
export function printUrgent(body: Record<string, unknown>): string {
  const { data } = answerAs<UrgentFindings>(body);
  if (data.length === 0) return "(none: no open finding has an EPSS score or is in CISA's catalog)";
  const head = ["ID", "EXPLOITED_SINCE", "EPSS", "SEVERITY", "VULNERABILITY", "COMPONENT", "FIX", "PROJECT"];
  const rows = data.map((row) => [
    row.id,
    row.known_exploited_since ?? "-",
    row.epss === null ? "-" : `${(100 * row.epss).toFixed(1)} %`,
    row.severity ?? "-",
    row.cve_id,
    `${row.component} ${row.component_version}`.trim(),
    row.fix_version ?? "-",
    row.project,
  ]);
  return safeColumns([head, ...rows]);
}

export function printFinding(body: Record<string, unknown>): string {
  const finding = answerAs<FindingDetails>(body);
  const { evidence, upgrade, upgrade_for_all: forAll } = finding;
  return facts([
    ["finding", finding.id],
    ["vulnerability", finding.cve_id],
    ["severity", severityText(finding)],
    ["exploited", finding.known_exploited_since === null ? "" : `since ${finding.known_exploited_since} (CISA)`],
    ["EPSS", finding.epss === null ? "" : `${(100 * finding.epss).toFixed(1)} % within 30 days`],
    ["component", `${finding.component} ${finding.component_version}`.trim()],
    ["project", `${finding.project} (${finding.project_id})`],
    ["path", finding.path.join(" > ")],
    ["status", `${finding.status}${finding.false_positive ? ", false positive" : ""}${finding.present ? "" : ", gone"}`],
    ["decided", finding.decided_by === null ? "" : `${finding.decided_at ?? ""} by ${finding.decided_by}`],
    ["owner", finding.owner ?? ""],
    ["not affected", finding.justification ?? ""],
    ["accepted until", finding.accepted_until ?? ""],
    ["note", finding.note ?? ""],
    ["why", [evidence.source, evidence.comparator ?? evidence.range].filter((part) => part !== null).join(": ")],
    ["upgrade", upgradeText(upgrade)],
    ["upgrade for all", upgradeText(forAll)],
    ["first seen", finding.first_seen],
    ["last seen", finding.last_seen],
  ]);
}

export function printVulnerability(body: Record<string, unknown>): string {
  const record = answerAs<VulnerabilityRecord>(body);
  const { occurrences, affected } = record;
  const more = occurrences.length - occurrencesShown;
  return [
    facts([
      ["vulnerability", record.cve_id],
      ["aliases", record.aliases.join(", ")],
      ["severity", severityText(record)],
      ["vector", record.cvss_vector ?? ""],
      ["weaknesses", record.cwes.join(", ")],
      ["published", record.published ?? ""],
      ["withdrawn", record.withdrawn ?? ""],
      ["packages", [...new Set(affected.map(({ package: name }) => name))].join(", ")],
      ["fix", record.fix_version ?? ""],
    ]),
    record.description.trim().replace(/[^\P{Cc}\n]/gu, " "),
    ...(occurrences.length === 0 ? [] : [occurrenceTable(occurrences.slice(0, occurrencesShown))]),
    ...(more > 0 ? [`and ${more} more; finding list --vulnerability ${record.cve_id} lists all`] : []),
    facts(record.references.map(({ type, url }) => [type.toLowerCase(), url])),
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

function occurrenceTable(occurrences: VulnerabilityRecord["occurrences"]): string {
  const rows = occurrences.map((row) => [row.finding_id, `${row.component} ${row.component_version}`, row.status, row.project]);
  return safeColumns([["FINDING", "COMPONENT", "STATUS", "PROJECT"], ...rows]);
}

function severityText(row: Pick<FindingRow, "severity" | "cvss_score" | "severity_basis">): string {
  const basis = basisWords(row.severity_basis);
  return [row.severity ?? "unknown", ...(row.cvss_score === null ? [] : [`CVSS ${row.cvss_score.toFixed(1)}`]), ...basis].join(
    ", ",
  );
}

function upgradeText({ version, step, prerelease, reason }: FindingDetails["upgrade"]): string {
  if (version === null) return reason ?? "";
  return `${version} (${step ?? ""}${prerelease ? ", a prerelease" : ""})`;
}

/** A line for each known fact. */
function facts(rows: readonly [string, string][]): string {
  return safeColumns(rows.filter(([, value]) => value !== ""));
}

/** Names come from other people's documents: a control character could move the cursor or change the terminal. */
function safeColumns(rows: readonly (readonly string[])[]): string {
  return columns(rows.map((row) => row.map((cell) => cell.replace(/\p{Cc}+/gu, " "))));
}

const counted = ["critical", "high", "medium", "low", "unknown"] as const;

/** A line for each project. */
export function projectTable(projects: readonly ProjectView[]): string {
  if (projects.length === 0) return "(none)";
  const head = ["ID", "NAME", ...counted.map((word) => word.toUpperCase()), "SCAN", "LAST_SCANNED_AT"];
  const rows = projects.map((project) => [
    project.id,
    project.name,
    ...counted.map((word) => String(project.vulnerability_counts[word])),
    scanText(project),
    project.last_scanned_at ?? "-",
  ]);
  return safeColumns([head, ...rows]);
}

function scanText({ scan_status: status, scan_queue_position: before }: ProjectView): string {
  return before === null || before === 0 ? status : `${status} (${before} before it)`;
}

/** One line. */
export function agesText(ages: readonly EcosystemAge[], nowMs: number): string {
  const known = ages.flatMap((age) => {
    const since = advisoriesUpdatedAt(age);
    return since === null ? [] : [`${age.ecosystem} ${ageText(nowMs - Date.parse(since))}`];
  });
  const incomplete = ages.filter(({ sync_began_at: began }) => began !== null);
  const missing = ages.filter(({ known: isKnown, sync_began_at: began }) => !isKnown && began === null);
  const rest = [
    ...(missing.length === 0 ? [] : [`none for ${namesOf(missing)}`]),
    ...(incomplete.length === 0 ? [] : [incompleteText(namesOf(incomplete))]),
  ];
  if (known.length === 0 && incomplete.length === 0) return "There are no advisories: advisories sync gets them";
  return `Age of advisories: ${[...(known.length === 0 ? [] : [known.join(", ")]), ...rest].join("; ")}`;
}

function namesOf(ages: readonly EcosystemAge[]): string {
  return ages.map(({ ecosystem }) => ecosystem).join(", ");
}

/** In the largest whole unit. */
function ageText(ms: number): string {
  const minutes = Math.max(0, Math.floor(ms / 60_000));
  if (minutes < 120) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 72 ? `${hours} h` : `${Math.floor(hours / 24)} days`;
}
