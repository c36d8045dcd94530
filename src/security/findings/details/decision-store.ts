import type { Queries } from "../../../backing/backing.ts";

export interface FindingState {
  /** Whether the project still has the component, and an advisory still names its version. */
  present: boolean;
  note: string | null;
  decidedBy: string | null;
  decidedAt: Date | null;
}

/** What stands of a finding beside its row: whether it is there, and what a person decided. */
export async function selectState(finding: string, sql: Queries): Promise<FindingState | undefined> {
  const [row] = await sql<FindingState[]>`
    SELECT findings.present, triages.note, triages.decided_by AS "decidedBy", triages.decided_at AS "decidedAt"
    FROM findings LEFT JOIN triages ON triages.project_id = findings.project_id AND triages.package_id = findings.package_id
      AND triages.vulnerability_id = findings.vulnerability_id
    WHERE findings.id = ${finding}`;
  return row;
}
