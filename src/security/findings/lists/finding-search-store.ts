/**
 * Finds findings by conditions that no index serves. It walks the list in its order and reads a bounded number of rows, so no page costs
 * more than another. If the walk ends before the list does, the next page continues there.
 */
import type { Queries } from "../../../backing/backing.ts";
import { findingsSearchedMax } from "../../limits.ts";
import type { Ecosystem } from "../../versions/ecosystem.ts";
import { matching, streamConditions, united, type FindingFilter } from "./finding-list-store.ts";
import type { Fragment, ListScope } from "./list-store.ts";

/** A position in list order: by rank, then id. */
interface Place {
  id: string;
  rank: number;
}

export interface FindingSearch extends Pick<FindingFilter, "shown" | "ranks"> {
  scope: ListScope;
  /** null: any ecosystem. */
  ecosystem: Ecosystem | null;
  /** Whether an unaffected version is known; null: either. */
  fixable: boolean | null;
  /** Part of the component's name, in any case; null: any. */
  component: string | null;
  /** Only findings of these issues; null: any. */
  vulnerabilities: readonly bigint[] | null;
  /** The findings after this position; null: from the first one. */
  after: Place | null;
  limit: number;
}

export interface FoundPlaces {
  places: Place[];
  /** Where the next page continues; null: there are no further findings. */
  next: Place | null;
}

export async function selectPlaces(search: FindingSearch, sql: Queries): Promise<FoundPlaces> {
  const { limit } = search;
  const walks = isFiltered(search) ? findingsSearchedMax : limit + 1;
  const rows = await sql<(Place & { matches: boolean; place: number })[]>`
    WITH walked AS MATERIALIZED (
      SELECT * FROM (${walk(search, sql.unsafe(String(walks)), sql)}) AS stream ORDER BY rank DESC, id LIMIT ${sql.unsafe(String(walks))}
    )
    SELECT id, rank, matches, place::integer FROM (
      SELECT walked.id, walked.rank, ${conditions(search, sql)} AS matches, row_number() OVER (ORDER BY walked.rank DESC, walked.id) AS place
      FROM walked JOIN packages ON packages.id = walked.package_id
    ) AS found
    WHERE matches OR place = ${walks}
    ORDER BY place LIMIT ${limit + 1}`;
  const matched = rows.filter(({ matches }) => matches);
  const places = matched.slice(0, limit).map(({ id, rank }) => ({ id, rank }));
  const last = rows.at(-1);
  const walkEnd = last?.place === walks ? { id: last.id, rank: last.rank } : null;
  return { places, next: matched.length > limit ? (places.at(-1) ?? null) : walkEnd };
}

/** @returns undefined if the scope has no such finding */
export async function selectPlace({ scope, id }: { scope: ListScope; id: string }, sql: Queries): Promise<Place | undefined> {
  const [row] = await sql<Place[]>`SELECT id, rank FROM findings WHERE id = ${id} AND ${sql(`${scope.kind}_id`)} = ${scope.id}`;
  return row;
}

/** How many findings a list has without further conditions. */
export async function countFindings(
  { scope, shown, ranks: [lowest, highest] }: Pick<FindingSearch, "scope" | "shown" | "ranks">,
  sql: Queries,
): Promise<number> {
  const [row] = await sql<{ count: bigint }[]>`
    SELECT coalesce(sum(amount), 0)::bigint AS count FROM finding_buckets
    WHERE scope_id = ${scope.id} AND depth = 0 AND rank BETWEEN ${lowest} AND ${highest} AND ${matching(shown, sql)}`;
  return Number(row?.count ?? 0);
}

function isFiltered({ ecosystem, fixable, component }: FindingSearch): boolean {
  return ecosystem !== null || fixable !== null || component !== null;
}

/** Streams that indexes provide in list order. */
function walk({ scope, shown, ranks, vulnerabilities, after }: FindingSearch, most: Fragment, sql: Queries): Fragment {
  const scoped = sql`SELECT id, rank, package_id, component, fix_version FROM findings WHERE ${sql(`${scope.kind}_id`)} = ${scope.id}`;
  const streams = (conditions: readonly Fragment[], { rank, order }: { rank: Fragment; order: Fragment }): Fragment[] =>
    conditions.flatMap((condition) =>
      beginningsOf({ ranks, after, rank }, sql).map(
        (beginning) => sql`(${scoped} AND ${condition} AND ${beginning} ORDER BY ${order} LIMIT ${most})`,
      ),
    );
  if (vulnerabilities === null) {
    return united(streams(streamConditions(shown, sql), { rank: sql`rank`, order: sql`rank DESC, id` }), sql);
  }
  // All findings of an issue have its rank, so the issue's index has them in list order. `rank + 0` keeps the planner off the index of
  // ranks, which it would choose because it does not know how few ranks match.
  const ofIssue = vulnerabilities.map((id) => sql`vulnerability_id = ${String(id)}::bigint AND ${matching(shown, sql)}`);
  return united(streams(ofIssue, { rank: sql`(rank + 0)`, order: sql`id` }), sql);
}

function conditions({ ecosystem, fixable, component }: FindingSearch, sql: Queries): Fragment {
  return sql`true
    ${ecosystem === null ? sql`` : sql`AND packages.ecosystem = ${ecosystem}`}
    ${fixable === null ? sql`` : sql`AND (walked.fix_version IS NOT NULL) = ${fixable}`}
    ${component === null ? sql`` : sql`AND strpos(lower(walked.component), lower(${component})) > 0`}`;
}

/** Findings with the position's rank and those with lower ranks are separate conditions, so that an index finds the beginning of each. */
function beginningsOf(
  { ranks: [lowest, highest], after, rank }: Pick<FindingSearch, "ranks" | "after"> & { rank: Fragment },
  sql: Queries,
): Fragment[] {
  if (after === null) return [sql`${rank} BETWEEN ${lowest} AND ${highest}`];
  const lower = sql`${rank} BETWEEN ${lowest} AND ${Math.min(highest, after.rank - 1)}`;
  const isWithin = after.rank >= lowest && after.rank <= highest;
  return isWithin ? [sql`${rank} = ${after.rank} AND id > ${after.id}`, lower] : [lower];
}
