/** The SQL of VEX documents: pages of a project's findings for the export, and the findings that an import's statements may match. */
import type { Database, Queries, Transaction } from "../../../backing/backing.ts";
import { arrayText } from "../../../backing/sql-text.ts";
import type { Ecosystem } from "../../versions/ecosystem.ts";
import { vexAliasesShownMax } from "../limits.ts";
import { inKeyOrder, type FindingPlace } from "../lists/list-store.ts";
import type { Severity } from "../schema.ts";
import { joinDecision } from "../triage-store.ts";
import type { Decided } from "./words.ts";

export interface VexFinding extends Decided {
  rank: number;
  name: string;
  /** All its names, with spaces between them. */
  names: string | null;
  description: string;
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
    SELECT findings.rank, vulnerabilities.name, known.names, vulnerabilities.description, vulnerabilities.severity, vulnerabilities.score::float8 AS score, findings.status,
      findings.false_positive AS "falsePositive", triages.note, triages.justification, findings.component, findings.version, findings.purl,
      findings.fix_version AS "fixVersion", triages.decided_at AS "decidedAt"
    FROM findings JOIN vulnerabilities ON vulnerabilities.id = findings.vulnerability_id
    ${joinDecision(sql)}
    CROSS JOIN LATERAL (
      SELECT string_agg(name, ' ' ORDER BY name) AS names FROM (
        SELECT name FROM vulnerability_names
        WHERE vulnerability_id = findings.vulnerability_id AND NOT shared ORDER BY name LIMIT ${vexAliasesShownMax}) AS named) AS known
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
  /** As the document writes it; null: it has none that can be read. */
  purl: string | null;
}

/** The findings of these issues in the project's current SBOM. */
export async function selectCandidates(
  { project, issues, limit }: { project: string; issues: readonly bigint[]; limit: number },
  sql: Queries,
): Promise<Candidate[]> {
  return sql<Candidate[]>`
    SELECT findings.id, findings.vulnerability_id AS issue, findings.package_id AS package, packages.ecosystem,
      packages.key, findings.version, findings.purl, findings.status, findings.false_positive AS "falsePositive", triages.note,
      triages.justification
    FROM findings JOIN packages ON packages.id = findings.package_id
    ${joinDecision(sql)}
    WHERE findings.project_id = ${project} AND findings.present
      AND findings.vulnerability_id = ANY (${arrayText(issues, (id) => id)}::bigint[])
    ORDER BY findings.id LIMIT ${limit}`;
}

interface VexProject {
  name: string;
  /** The workspace's name. */
  workspace: string;
  /** The package URL of the current SBOM's root; null: it has none. */
  root: string | null;
}

export async function selectVexProject(project: string, sql: Queries): Promise<VexProject | undefined> {
  const [row] = await sql<VexProject[]>`
    SELECT projects.name, workspaces.name AS workspace, root.purl AS root
    FROM projects JOIN workspaces ON workspaces.id = projects.workspace_id
    LEFT JOIN sbom_components AS root ON root.sbom_id = projects.sbom_id AND root.position = 0 AND root.relation = 'root'
    WHERE projects.id = ${project}`;
  return row;
}

interface CurrentSbom {
  id: string;
  /** The serial number of a CycloneDX document, or another format's id; null: it has none. */
  documentId: string | null;
  /** What is null of the root is not in the document. */
  rootRef: string | null;
  rootPurl: string | null;
  rootName: string | null;
  rootVersion: string | null;
}

export async function selectCurrentSbom(project: string, sql: Queries): Promise<CurrentSbom | undefined> {
  const [row] = await sql<CurrentSbom[]>`
    SELECT sboms.id, sboms.document_id AS "documentId", root.ref AS "rootRef", root.purl AS "rootPurl", root.name AS "rootName", root.version AS "rootVersion"
    FROM projects JOIN sboms ON sboms.id = projects.sbom_id
    LEFT JOIN sbom_components AS root ON root.sbom_id = sboms.id AND root.position = 0 AND root.relation = 'root'
    WHERE projects.id = ${project}`;
  return row;
}

/** The versions of these packages that the SBOM has under these bom-refs. */
export async function selectRefs(
  { sbom, packages, refs }: { sbom: string; packages: readonly bigint[]; refs: readonly string[] },
  sql: Queries,
): Promise<{ ref: string; package: bigint; version: string }[]> {
  return sql<{ ref: string; package: bigint; version: string }[]>`
    SELECT ref, package_id AS package, version FROM sbom_components
    WHERE sbom_id = ${sbom} AND package_id = ANY (${arrayText(packages, (id) => id)}::bigint[])
      AND ref = ANY (${arrayText(refs, (ref) => ref)}::text[]) AND version IS NOT NULL`;
}
