import type { PendingQuery, Row } from "postgres";
import { arrayText } from "../../backing/sql-text.ts";
import type { Queries } from "../../backing/backing.ts";
import { pathNameCharactersMax } from "../limits.ts";

/** The components on a shortest path from a document's root to a component, including both. */
export interface DependencyPath {
  names: string[];
  /** Each as `name@version`, or as its name if it has no version. */
  labels: string[];
  /** Whether the path begins at the root: only the last `stepsMax` components of a longer path are read. */
  whole: boolean;
}

/** A document has names of up to 65,536 characters, and hundreds of paths may go through one of them: the end of such a name is cut. */
function cut(name: PendingQuery<Row[]>, sql: Queries): PendingQuery<Row[]> {
  return sql`CASE WHEN length(${name}) > ${pathNameCharactersMax} THEN left(${name}, ${pathNameCharactersMax}) || '…' ELSE ${name} END`;
}

/** @returns by the position of the path's last component */
export async function selectPaths(
  { sbom, positions, stepsMax }: { sbom: string; positions: readonly number[]; stepsMax: number },
  sql: Queries,
): Promise<Map<number, DependencyPath>> {
  const rows = await sql<({ position: number } & DependencyPath)[]>`
    WITH RECURSIVE step AS (
      SELECT position AS of, name, version, via, 1 AS steps FROM sbom_components
      WHERE sbom_id = ${sbom} AND position = ANY (${arrayText(positions, (position) => position)}::integer[])
      UNION ALL
      SELECT step.of, before.name, before.version, before.via, step.steps + 1
      FROM step JOIN sbom_components AS before ON before.sbom_id = ${sbom} AND before.position = step.via
      WHERE step.steps < ${stepsMax}
    )
    SELECT of AS position, array_agg(${cut(sql`name`, sql)} ORDER BY steps DESC) AS names,
      array_agg(${cut(sql`name || coalesce('@' || version, '')`, sql)} ORDER BY steps DESC) AS labels, bool_or(via IS NULL) AS whole
    FROM step GROUP BY of`;
  return new Map(rows.map(({ position, ...path }) => [position, path]));
}
