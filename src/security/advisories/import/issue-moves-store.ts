/** Moves findings and decisions when issues are merged or split. Findings keep their history. */
import { arrayText } from "../../../backing/sql-text.ts";
import type { Transaction } from "../../../backing/backing.ts";

/** An issue, and another one that its decisions apply to as well. */
export interface IssueMove {
  from: bigint;
  to: bigint;
}

/** If both issues have a decision, the later one applies. The former issue keeps its own. */
export async function copyTriages(moves: readonly IssueMove[], tx: Transaction): Promise<void> {
  if (moves.length === 0) return;
  await tx`
    INSERT INTO triages (project_id, package_id, vulnerability_id, status, false_positive, note, decided_by, decided_at)
    SELECT DISTINCT ON (project_id, package_id, succession.target)
      project_id, package_id, succession.target, status, false_positive, note, decided_by, decided_at
    FROM triages JOIN ${pairs(moves, tx)} ON vulnerability_id = succession.source
    ORDER BY project_id, package_id, succession.target, decided_at DESC
    ON CONFLICT (project_id, package_id, vulnerability_id) DO UPDATE SET status = excluded.status,
      false_positive = excluded.false_positive, note = excluded.note, decided_by = excluded.decided_by, decided_at = excluded.decided_at
    WHERE excluded.decided_at > triages.decided_at`;
}

/**
 * Moves findings of ended issues to the issue that has their names now. If several findings would become one, the oldest moves; the others
 * stay, and the next scan resolves them.
 */
export async function moveFindings({ moves, at }: { moves: readonly IssueMove[]; at: Date }, tx: Transaction): Promise<void> {
  if (moves.length === 0) return;
  await tx`
    WITH mover AS (
      SELECT findings.id, succession.source, succession.target, row_number() OVER (
        PARTITION BY project_id, package_id, version, succession.target ORDER BY first_seen, findings.id) AS place
      FROM findings JOIN ${pairs(moves, tx)} ON vulnerability_id = succession.source
      WHERE NOT EXISTS (
        SELECT FROM findings AS there
        WHERE there.project_id = findings.project_id AND there.package_id = findings.package_id
          AND there.version = findings.version AND there.vulnerability_id = succession.target)
    ), moved AS (
      UPDATE findings SET vulnerability_id = mover.target FROM mover WHERE findings.id = mover.id AND mover.place = 1
      RETURNING findings.id, mover.source, mover.target
    )
    INSERT INTO finding_events (finding_id, at, actor, cause, changes)
    SELECT moved.id, ${at}, 'scanner', 'issue_followed',
      jsonb_build_object('cve_id', jsonb_build_object('from', former.name, 'to', present.name))
    FROM moved JOIN vulnerabilities AS former ON former.id = moved.source JOIN vulnerabilities AS present ON present.id = moved.target
    ORDER BY moved.id`;
}

/** Copies ranks to findings, where lists read them. */
export async function copyRanks(issues: readonly bigint[], tx: Transaction): Promise<void> {
  await tx`
    UPDATE findings SET rank = vulnerabilities.rank FROM vulnerabilities
    WHERE vulnerabilities.id = ANY (${arrayText(issues, (id) => id)}::bigint[])
      AND findings.vulnerability_id = vulnerabilities.id AND findings.rank <> vulnerabilities.rank`;
}

function pairs(moves: readonly IssueMove[], tx: Transaction) {
  return tx`unnest(
    ${arrayText(moves, ({ from }) => from)}::bigint[], ${arrayText(moves, ({ to }) => to)}::bigint[])
    AS succession (source, target)`;
}
