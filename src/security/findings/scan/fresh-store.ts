import type { Queries } from "../../../backing/backing.ts";

export interface FreshFinding {
  id: string;
  name: string;
  rank: number;
  component: string;
  version: string;
  fixVersion: string | null;
}

/** The most severe live findings that were first seen at the begin of this scan. */
export async function selectFresh(
  { project, at, limit }: { project: string; at: Date; limit: number },
  sql: Queries,
): Promise<FreshFinding[]> {
  return sql<FreshFinding[]>`
    SELECT findings.id, vulnerabilities.name, findings.rank, findings.component, findings.version, findings.fix_version AS "fixVersion"
    FROM findings JOIN vulnerabilities ON vulnerabilities.id = findings.vulnerability_id
    WHERE project_id = ${project} AND first_seen = ${at} AND live ORDER BY findings.rank DESC, findings.id LIMIT ${limit}`;
}

export async function selectProjectName(project: string, sql: Queries): Promise<string> {
  const [row] = await sql<{ name: string }[]>`SELECT name FROM projects WHERE id = ${project}`;
  return row?.name ?? "";
}
