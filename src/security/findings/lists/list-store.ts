/**
 * Finds the rows of a page by its offset, so that a late page costs no more than an early one.
 *
 * The database counts rows in buckets by scope, status and rank. A page is found by adding buckets until the offset is reached, then by
 * descending into slices of that rank. Only the rows of the page are read. Buckets count what lists show; other conditions need
 * `finding-search-store.ts`.
 */
import type { PendingQuery, Row } from "postgres";
import type { Queries, Database, Transaction } from "../../../backing/backing.ts";
import { listRowsMax } from "../../../http/limits.ts";
import type { Page } from "../../fields.ts";
import { nameShownCharactersMax } from "../limits.ts";

/** How deep the slices of a rank go: findings are divided down to the batch that wrote them, vulnerabilities down to ten characters of a name. */
const depths = { finding_buckets: 4, vulnerability_buckets: 3 } as const;

/** A part of a statement. */
export type Fragment = PendingQuery<Row[]>;

/** A workspace, product or project whose lists are counted. */
export interface ListScope {
  kind: "workspace" | "product" | "project";
  id: string;
}

interface BucketQuery {
  buckets: "finding_buckets" | "vulnerability_buckets";
  scope: ListScope;
  /** The lowest and the highest rank. */
  ranks: readonly [number, number];
  /** A condition on buckets. */
  matching: Fragment;
  page: Page;
}

/**
 * Common table expressions. `ranks` has the number of rows up to each rank. `needed` has the ranks with rows on the page: `take` rows after
 * the first `skip` ones, counted from `beginning`. Only the first rank can begin in its middle; the slices find the position.
 */
export function stepsToPage({ buckets, scope, ranks: [lowest, highest], matching, page }: BucketQuery, sql: Queries): Fragment {
  const start = sql`${page.offset}::bigint`;
  const end = sql`${page.offset}::bigint + ${page.limit}`;
  const amounts = sql`
    SELECT rank, slice, sum(amount)::bigint AS amount FROM ${sql(buckets)} WHERE scope_id = ${scope.id} AND ${matching}`;
  const deepest = depths[buckets];
  const descents = Array.from({ length: deepest }, (_, index) => descent(index + 1, amounts, sql));
  return sql`
    ranks AS MATERIALIZED (
      SELECT rank, amount, (sum(amount) OVER (ORDER BY rank DESC))::bigint AS upto
      FROM (${amounts} AND depth = 0 AND rank BETWEEN ${lowest} AND ${highest} GROUP BY rank, slice) AS bucket
    ), pieces AS MATERIALIZED (
      SELECT rank, greatest(${start} - (upto - amount), 0) AS skip, least(${end}, upto) - greatest(${start}, upto - amount) AS take
      FROM ranks WHERE upto > ${start} AND upto - amount < ${end}
    ), ${sql(depthName(0))} AS MATERIALIZED (
      SELECT rank, '' AS slice, skip FROM pieces WHERE skip > 0
    ), ${descents.reduce((all, one) => sql`${all}, ${one}`)}, needed AS MATERIALIZED (
      SELECT pieces.rank, take, coalesce(found.slice, '') AS beginning, coalesce(found.skip, 0) AS skip
      FROM pieces LEFT JOIN ${sql(depthName(deepest))} AS found ON found.rank = pieces.rank
    )`;
}

/** A literal instead of a parameter: a planner that does not know how few rows a page has would read whole tables. */
export function rowsAtMost(sql: Queries): Fragment {
  return sql`${sql.unsafe(String(listRowsMax))}`;
}

/** A name as lists show it. Documents have names of up to 65,536 characters, and a page has many names, so long ones lose their ends. */
export function nameShown(column: Fragment, sql: Queries): Fragment {
  return sql`CASE WHEN length(${column}) > ${nameShownCharactersMax} THEN left(${column}, ${nameShownCharactersMax}) || '…' ELSE ${column} END`;
}

/** A finding's position in the order in which a project's findings are read, page by page. No decision changes that order. */
export interface FindingPlace {
  package: bigint;
  /** Its key. */
  version: string;
  issue: bigint;
}

/** The position before all findings. */
export const noFinding: FindingPlace = { package: -1n, version: "", issue: -1n };

/**
 * Runs one statement with the plan that reads a page from the index. Without statistics the planner expects few findings, and would sort
 * the whole rest of the project for each page.
 */
export function inKeyOrder<Row>(read: (tx: Transaction) => Promise<Row>, sql: Database): Promise<Row> {
  return sql
    .begin("read only", async (tx) => {
      await tx`SELECT set_config('enable_sort', 'off', true), set_config('enable_bitmapscan', 'off', true), set_config('jit', 'off', true)`;
      return { row: await read(tx) };
    })
    .then(({ row }) => row);
}

/** Finds the slice at this depth that contains the first row of the page, within the slice above it, and how many rows to skip there. */
function descent(depth: number, amounts: Fragment, sql: Queries): Fragment {
  return sql`
    ${sql(depthName(depth))} AS MATERIALIZED (
      SELECT rank, slice, skip - before AS skip
      FROM (
        SELECT wider.rank, bucket.slice, skip, (sum(amount) OVER (ORDER BY bucket.slice) - amount)::bigint AS before
        FROM ${sql(depthName(depth - 1))} AS wider
        CROSS JOIN LATERAL (
          ${amounts} AND depth = ${depth} AND rank = wider.rank AND slice >= wider.slice AND slice < wider.slice || '~' GROUP BY rank, slice
        ) AS bucket
      ) AS running
      WHERE before <= skip ORDER BY slice DESC LIMIT 1
    )`;
}

function depthName(depth: number): string {
  return `depth_${depth}`;
}
