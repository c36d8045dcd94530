/** The SQL of VEX documents: pages of a project's findings for the export, and the findings that an import's statements may match. */
import type { Database, Queries, Transaction } from "../../../backing/backing.ts";
import { arrayText } from "../../../backing/sql-text.ts";
import type { Ecosystem } from "../../versions/ecosystem.ts";
import { inKeyOrder, type FindingPlace } from "../lists/list-store.ts";
import type { Severity } from "../schema.ts";
import type { Decided } from "./vex-analysis.ts";

export interface VexFinding extends Decided {
  rank: number;
  name: string;
  severity: Severity | null;
  score: number | null;
  component: string;
  version: string;
  purl: string | null;
  fixVersion: string | null;
  decidedAt: Date | null;
}

interface VexKey extends FindingPlace {
  id: string;
  rank: number;
  /** Whether it is in the current SBOM. */
  present: boolean;
}

/** The findings of a project after the last one of the previous page. */
export function selectVexKeys(
  { project, after, limit }: { project: string; after: FindingPlace; limit: number },
  sql: Database,
): Promise<VexKey[]> {
  const select = (tx: Transaction) => tx<VexKey[]>`
    SELECT id, rank, present, package_id AS package, version_key AS version, vulnerability_id AS issue FROM findings
    WHERE project_id = ${project}
      AND (package_id, version_key, vulnerability_id) > (${after.package}::bigint, ${after.version}, ${after.issue}::bigint)
    ORDER BY package_id, version_key, vulnerability_id LIMIT ${limit}`;
  return inKeyOrder(select, sql);
}

/** Which of these findings the project's current SBOM still has, in any status. */
export async function selectVexFindings(ids: readonly string[], sql: Queries): Promise<VexFinding[]> {
  return sql<VexFinding[]>`
    SELECT findings.rank, vulnerabilities.name, vulnerabilities.severity, vulnerabilities.score::float8 AS score, findings.status,
      findings.false_positive AS "falsePositive", triages.note, triages.justification, findings.component, findings.version, findings.purl,
      findings.fix_version AS "fixVersion", triages.decided_at AS "decidedAt"
    FROM findings JOIN vulnerabilities ON vulnerabilities.id = findings.vulnerability_id
    LEFT JOIN triages ON triages.project_id = findings.project_id AND triages.package_id = findings.package_id
      AND triages.vulnerability_id = findings.vulnerability_id
    WHERE findings.id = ANY (${arrayText(ids, (id) => id)}::text[]) AND findings.present
    ORDER BY findings.rank DESC, vulnerabilities.name, findings.id`;
}

/** The issues of these names. @param names in upper case */
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
  /** The key that all spellings of the package's name share. */
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
      packages.key, findings.version, findings.status, findings.false_positive AS "falsePositive", triages.note,
      triages.justification
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
