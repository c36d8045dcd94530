import { arrayText } from "../../../backing/array-text.ts";
import type { Queries } from "../../../backing/backing.ts";

export interface LiveCount {
  /** Of the workspace, product or project. */
  scope: string;
  rank: number;
  issues: number;
}

/** How many issues with live findings each of these scopes has, by rank. */
export async function countLiveIssues(scopes: readonly string[], sql: Queries): Promise<LiveCount[]> {
  return sql<LiveCount[]>`
    SELECT scope_id AS scope, rank, sum(amount)::integer AS issues
    FROM vulnerability_buckets
    WHERE scope_id = ANY (${arrayText(scopes, (id) => id)}::text[]) AND depth = 0
    GROUP BY scope_id, rank`;
}
