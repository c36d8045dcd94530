import { arrayText } from "../../../backing/array-text.ts";
import type { Queries } from "../../../backing/backing.ts";
import type { Ecosystem } from "../../versions/ecosystem.ts";
import type { Severity } from "../severity.ts";
import type { Decided } from "./analysis.ts";

export interface VexFinding extends Decided {
  name: string;
  severity: Severity | null;
  score: number | null;
  component: string;
  version: string;
  purl: string | null;
  fixVersion: string | null;
  decidedAt: Date | null;
}

/** Findings of the project's current SBOM in any status, the most severe first. */
export async function selectVexFindings(
  { project, limit }: { project: string; limit: number },
  sql: Queries,
): Promise<VexFinding[]> {
  return sql<VexFinding[]>`
    SELECT vulnerabilities.name, vulnerabilities.severity, vulnerabilities.score::float8 AS score, findings.status,
      findings.false_positive AS "falsePositive", triages.note, findings.component, findings.version, findings.purl,
      findings.fix_version AS "fixVersion", triages.decided_at AS "decidedAt"
    FROM findings JOIN vulnerabilities ON vulnerabilities.id = findings.vulnerability_id
    LEFT JOIN triages ON triages.project_id = findings.project_id AND triages.package_id = findings.package_id
      AND triages.vulnerability_id = findings.vulnerability_id
    WHERE findings.project_id = ${project} AND findings.present
    ORDER BY findings.rank DESC, vulnerabilities.name, findings.id LIMIT ${limit}`;
}

/** The issues of these names. @param names in capitals */
export async function selectIssuesNamed(names: readonly string[], sql: Queries): Promise<{ name: string; issue: bigint }[]> {
  return sql<{ name: string; issue: bigint }[]>`
    SELECT upper(name) AS name, vulnerability_id AS issue FROM vulnerability_names
    WHERE upper(name) = ANY (${arrayText(names, (name) => name)}::text[])`;
}

export interface Candidate extends Decided {
  id: string;
  issue: bigint;
  package: bigint;
  ecosystem: Ecosystem;
  /** What all spellings of the package's name share. */
  key: string;
  version: string;
}

/** The findings of these issues in the project's current SBOM. */
export async function selectCandidates(
  { project, issues, limit }: { project: string; issues: readonly bigint[]; limit: number },
  sql: Queries,
): Promise<Candidate[]> {
  return sql<Candidate[]>`
    SELECT findings.id, findings.vulnerability_id AS issue, findings.package_id AS package, packages.ecosystem,
      packages.key, findings.version, findings.status, findings.false_positive AS "falsePositive", triages.note
    FROM findings JOIN packages ON packages.id = findings.package_id
    LEFT JOIN triages ON triages.project_id = findings.project_id AND triages.package_id = findings.package_id
      AND triages.vulnerability_id = findings.vulnerability_id
    WHERE findings.project_id = ${project} AND findings.present
      AND findings.vulnerability_id = ANY (${arrayText(issues, (id) => id)}::bigint[])
    ORDER BY findings.id LIMIT ${limit}`;
}

export async function selectVexProject(project: string, sql: Queries): Promise<{ name: string } | undefined> {
  const [row] = await sql<{ name: string }[]>`SELECT name FROM projects WHERE id = ${project}`;
  return row;
}
