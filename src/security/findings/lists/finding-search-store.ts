/**
 * Finds findings by conditions that no index serves. It walks the list in its order and reads a bounded number of rows, so no page costs
 * more than another. If the walk ends before the list does, the next page continues there.
 */
import type { Queries } from "../../../backing/backing.ts";
import { arrayText } from "../../../backing/sql-text.ts";
import { findingsSearchedMax } from "../../limits.ts";
import type { Ecosystem } from "../../versions/ecosystem.ts";
import { matching, streamConditions, united, type FindingFilter } from "./finding-list-store.ts";
import type { StoredDecision } from "../decision.ts";
import type { ExploitFacts } from "../../vulnerabilities/store.ts";
import { joinDecision } from "../triage-store.ts";
import { nameShown, type Fragment, type ListScope } from "./list-store.ts";

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
  /** Whether CISA lists the issue as exploited; null: either. */
  exploited: boolean | null;
  /** E-mail address of the decision's owner; null: any, or none. */
  owner: string | null;
  /** The component's exact name; null: any. */
  named: string | null;
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
  if (!isFiltered(search)) return walkPlaces(search, search.limit + 1, sql);
  // Most filters match often, so a short walk fills the page. It costs a tenth of the long one.
  const short = await walkPlaces(search, Math.min(findingsSearchedMax, 10 * (search.limit + 1)), sql);
  return short.isCut ? walkPlaces(search, findingsSearchedMax, sql) : short;
}

interface WalkedPlaces extends FoundPlaces {
  /** The walk ended before the page was full and the list had ended. */
  isCut: boolean;
}

/** @param walks the findings that are read, at most */
async function walkPlaces(search: FindingSearch, walks: number, sql: Queries): Promise<WalkedPlaces> {
  const { limit } = search;
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
  const isFull = matched.length > limit;
  return { places, next: isFull ? (places.at(-1) ?? null) : walkEnd, isCut: !isFull && walkEnd !== null };
}

/** What rows of a search have besides those of other lists. */
export interface RowFacts extends ExploitFacts, Pick<StoredDecision, "justification" | "acceptedUntil" | "owner"> {
  id: string;
  decidedAt: Date | null;
}

/** Facts about the issues and the decisions of these findings. */
export async function selectRowFacts(ids: readonly string[], sql: Queries): Promise<Map<string, RowFacts>> {
  const rows = await sql<RowFacts[]>`
    SELECT findings.id, known.epss, known.percentile, known.added::text AS "kevAdded", triages.justification,
      triages.accepted_until::text AS "acceptedUntil", triages.owner_email AS owner,
      triages.decided_at AS "decidedAt"
    FROM findings ${joinDecision(sql)}
    CROSS JOIN LATERAL (
      SELECT max(epss) AS epss, max(percentile) AS percentile, min(kev_added) AS added
      FROM vulnerability_names AS names JOIN exploits ON exploits.cve = names.name
      WHERE names.vulnerability_id = findings.vulnerability_id AND NOT names.shared
    ) AS known
    WHERE findings.id = ANY (${arrayText(ids, (id) => id)}::text[])`;
  return new Map(rows.map((row) => [row.id, row]));
}

/** A package or an issue with findings that a search matches. */
export interface FindingGroup {
  /** The package's name as a document has it; null: a group by issue. */
  component: string | null;
  ecosystem: Ecosystem | null;
  /** The issue's name; null: a group by package. */
  issue: string | null;
  /** The highest of its findings. */
  rank: number;
  scoredZero: boolean | null;
  findings: number;
  issues: number;
  packages: number;
  projects: number;
  versions: number;
  /** How many of the findings have a version to upgrade to. */
  fixable: number;
  epss: number | null;
  kevAdded: string | null;
}

/**
 * The findings of a search by package or by issue, those with the most severe findings first. It reads at most `walked` findings, in list
 * order.
 */
export async function selectGroups(
  {
    by,
    walked: most,
    limit,
    offset,
    ...search
  }: Omit<FindingSearch, "after"> & {
    by: "package" | "vulnerability";
    walked: number;
    offset: number;
  },
  sql: Queries,
): Promise<{ groups: FindingGroup[]; total: number; isWhole: boolean }> {
  const whole = { ...search, limit, after: null };
  const key = by === "package" ? sql`package_id` : sql`vulnerability_id`;
  const rows = await sql<(Omit<FindingGroup, "component"> & { component: string; total: number; walked: number })[]>`
    WITH walked AS MATERIALIZED (
      SELECT * FROM (${walk(whole, sql.unsafe(String(most)), sql)}) AS stream ORDER BY rank DESC, id LIMIT ${sql.unsafe(String(most))}
    ), grouped AS MATERIALIZED (
      SELECT ${key} AS key, max(rank) AS rank, count(*)::integer AS findings, count(DISTINCT vulnerability_id)::integer AS issues,
        count(DISTINCT package_id)::integer AS packages, count(DISTINCT project_id)::integer AS projects,
        count(DISTINCT version)::integer AS versions, count(fix_version)::integer AS fixable, min(component) AS component,
        array_agg(DISTINCT vulnerability_id) AS ids
      FROM walked JOIN packages ON packages.id = walked.package_id WHERE ${conditions(whole, sql)}
      GROUP BY ${key}
    ), page AS MATERIALIZED (
      SELECT * FROM grouped ORDER BY rank DESC, findings DESC, key OFFSET ${offset} LIMIT ${limit}
    )
    SELECT (SELECT count(*) FROM grouped)::integer AS total, (SELECT count(*) FROM walked)::integer AS walked, page.rank, page.findings,
      page.issues, page.packages, page.projects, page.versions, page.fixable, ${nameShown(sql`page.component`, sql)} AS component,
      packages.ecosystem, vulnerabilities.name AS issue, vulnerabilities.score = 0 AS "scoredZero", known.epss, known.added::text AS "kevAdded"
    FROM page
    LEFT JOIN packages ON ${by === "package"} AND packages.id = page.key
    LEFT JOIN vulnerabilities ON ${by === "vulnerability"} AND vulnerabilities.id = page.key
    CROSS JOIN LATERAL (
      SELECT max(epss) AS epss, min(kev_added) AS added FROM vulnerability_names AS names JOIN exploits ON exploits.cve = names.name
      WHERE names.vulnerability_id = ANY (page.ids) AND NOT names.shared
    ) AS known
    ORDER BY page.rank DESC, page.findings DESC, page.key`;
  const groups = rows.map(({ total: _total, walked: _walked, component, ...group }) => ({
    ...group,
    component: by === "package" ? component : null,
  }));
  return { groups, total: rows[0]?.total ?? 0, isWhole: (rows[0]?.walked ?? 0) < most };
}

/**
 * Live findings of a scope whose issue is in CISA's catalog. It begins with the catalog, which is the shorter list.
 * @returns null if no catalog was imported, so that zero would be no verdict
 */
export async function countExploited({ id }: ListScope, sql: Queries): Promise<number | null> {
  const [row] = await sql<{ count: number | null }[]>`
    WITH known AS MATERIALIZED (
      SELECT DISTINCT names.vulnerability_id FROM exploits
      JOIN vulnerability_names AS names ON names.name = exploits.cve AND NOT names.shared WHERE kev_added IS NOT NULL
    )
    SELECT CASE WHEN EXISTS (SELECT FROM exploits WHERE kev_added IS NOT NULL) THEN coalesce(sum(listed.findings), 0)::integer END AS count
    FROM known
    JOIN scope_vulnerabilities AS listed ON listed.scope_id = ${id} AND listed.vulnerability_id = known.vulnerability_id`;
  return row?.count ?? null;
}

/** How many findings of a status a scope has, by rank. */
export async function countByRank(
  { scope, shown }: Pick<FindingSearch, "scope" | "shown">,
  sql: Queries,
): Promise<{ rank: number; count: number }[]> {
  return sql<{ rank: number; count: number }[]>`
    SELECT rank, sum(amount)::integer AS count FROM finding_buckets
    WHERE scope_id = ${scope.id} AND depth = 0 AND ${matching(shown, sql)} GROUP BY rank`;
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

/** Whether it has a condition that no index serves. */
export function isFiltered({
  ecosystem,
  fixable,
  exploited,
  owner,
  named,
  component,
}: Omit<FindingSearch, "after" | "limit">): boolean {
  return [ecosystem, fixable, exploited, owner, named, component].some((condition) => condition !== null);
}

/** Streams that indexes provide in list order. */
function walk({ scope, shown, ranks, vulnerabilities, after }: FindingSearch, most: Fragment, sql: Queries): Fragment {
  const scoped = sql`SELECT id, rank, project_id, package_id, vulnerability_id, version, component, fix_version FROM findings WHERE ${sql(`${scope.kind}_id`)} = ${scope.id}`;
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

function conditions({ ecosystem, fixable, exploited, owner, named, component }: FindingSearch, sql: Queries): Fragment {
  return sql`true
    ${exploited === null ? sql`` : sql`AND ${isExploited(sql)} = ${exploited}`}
    ${owner === null ? sql`` : sql`AND ${isOwnedBy(owner, sql)}`}
    ${named === null ? sql`` : sql`AND walked.component = ${named}`}
    ${ecosystem === null ? sql`` : sql`AND packages.ecosystem = ${ecosystem}`}
    ${fixable === null ? sql`` : sql`AND (walked.fix_version IS NOT NULL) = ${fixable}`}
    ${component === null ? sql`` : sql`AND strpos(lower(walked.component), lower(${component})) > 0`}`;
}

/** Whether CISA's catalog has an id of the walked finding's issue. */
function isExploited(sql: Queries): Fragment {
  return sql`EXISTS (
    SELECT FROM vulnerability_names AS names JOIN exploits ON exploits.cve = names.name
    WHERE names.vulnerability_id = walked.vulnerability_id AND NOT names.shared AND exploits.kev_added IS NOT NULL)`;
}

function isOwnedBy(owner: string, sql: Queries): Fragment {
  return sql`coalesce((
    SELECT owner_email FROM triages
    WHERE triages.project_id = walked.project_id AND triages.package_id = walked.package_id
      AND triages.vulnerability_id = walked.vulnerability_id AND triages.version IN ('', walked.version)
    ORDER BY triages.decided_at DESC, triages.version DESC LIMIT 1), '') = ${owner}`;
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
