/**
 * Findings as SARIF, the Static Analysis Results Interchange Format 2.1.0
 * (https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html), with all that GitHub requires of it
 * (https://docs.github.com/en/code-security/code-scanning/integrating-with-code-scanning/sarif-support-for-code-scanning).
 *
 * Findings that a person dismissed are suppressed results, with the reason where there is one. What was not compared is a notification of
 * the run, so that an empty file is no all-clear.
 */
import { digestOf } from "../../../kernel/json.ts";
import { shortened } from "../../../kernel/text.ts";
import { version } from "../../../process/version.ts";
import type { FindingRow } from "../lists/list-rows.ts";
import { basisWords, type Severity } from "../schema.ts";

/** GitHub accepts this many results per file, and this many rules. */
export const sarifResultsMax = 25_000;

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

/** Rows of a search also have the reason. */
type DecidedRow = FindingRow & { justification?: string | null };

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
  findings: readonly DecidedRow[],
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
          ...(isSuppressed(finding) && { suppressions: [suppressionOf(finding)] }),
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
  // Malware may have a lower score than its severity.
  const own = first?.severity_basis === "malware" ? undefined : first?.cvss_score?.toFixed(1);
  const score = own ?? (severity === null ? null : usualScores[severity]);
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
  const { component, component_version: installed, cve_id: id, severity, cvss_score: score, severity_basis: basis } = finding;
  const scored = score === null ? [] : [`CVSS ${score.toFixed(1)}`];
  const facts = [severity ?? "severity unknown", ...scored, ...basisWords(basis)];
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

function suppressionOf({ justification = null }: DecidedRow) {
  return { kind: "external", status: "accepted", ...(justification !== null && { justification }) };
}
