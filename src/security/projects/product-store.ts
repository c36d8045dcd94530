/** The SQL of products. Names are unique in a workspace, and lists are sorted by them. */
import type { Queries, Transaction } from "../../backing/backing.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import type { Scope } from "../operation.ts";
import { isComparable } from "../scans/comparison-store.ts";

interface NewProduct {
  id: string;
  workspace: WorkspaceId;
  name: string;
  at: Date;
}

/** @returns false if the workspace has a product of that name */
export async function insertProduct({ id, workspace, name, at }: NewProduct, tx: Transaction): Promise<boolean> {
  const rows = await tx`
    INSERT INTO products (id, workspace_id, name, created_at) VALUES (${id}, ${workspace}, ${name}, ${at})
    ON CONFLICT (workspace_id, name) DO NOTHING
    RETURNING id`;
  return rows.length === 1;
}

export async function selectProductIdByName(
  { workspace, name }: { workspace: WorkspaceId; name: string },
  sql: Queries,
): Promise<string | undefined> {
  const [row] = await sql<{ id: string }[]>`SELECT id FROM products WHERE workspace_id = ${workspace} AND name = ${name}`;
  return row?.id;
}

interface ProductFilter {
  workspace: WorkspaceId;
  /** For the scope of a project: the product of that project. */
  scope: Scope;
  /** Exact; null: any. */
  name: string | null;
  /** Part of the name, in any case; absent: any. */
  text?: string | undefined;
}

export interface ProductRow {
  id: string;
  name: string;
  projects: number;
  sboms: number;
  /** Whether a scan of one of its projects has been completed. */
  scanned: boolean;
  /** Whether a scanned project cannot be compared with any advisory, even while its next scan waits or after one failed. */
  blind: boolean;
}

/** Ordered by name, which is unique in a workspace. */
export async function selectProducts(
  { limit, offset, ...filter }: ProductFilter & { limit: number; offset: number },
  sql: Queries,
): Promise<ProductRow[]> {
  return sql<ProductRow[]>`
    SELECT page.id, page.name, own.projects, own.sboms, own.scanned, own.blind
    FROM (SELECT id, name FROM products ${matching(filter, sql)} ORDER BY name LIMIT ${limit} OFFSET ${offset}) AS page
    CROSS JOIN LATERAL (
      SELECT count(*)::integer AS projects, coalesce(bool_or(last_scanned_at IS NOT NULL), false) AS scanned,
        coalesce(bool_or(last_scanned_at IS NOT NULL AND NOT ${isComparable(sql)}), false) AS blind,
        coalesce(sum((SELECT count(*) FROM sboms WHERE sboms.project_id = projects.id AND NOT removing)), 0)::integer AS sboms
      FROM projects WHERE projects.product_id = page.id
    ) AS own
    ORDER BY page.name`;
}

export async function countProducts(filter: ProductFilter, sql: Queries): Promise<number> {
  const [row] = await sql<{ count: number }[]>`SELECT count(*)::integer AS count FROM products ${matching(filter, sql)}`;
  return row?.count ?? 0;
}

function matching({ workspace, scope, name, text }: ProductFilter, sql: Queries) {
  return sql`
    WHERE workspace_id = ${workspace}
      ${scope.kind === "product" ? sql`AND id = ${scope.id}` : sql``}
      ${scope.kind === "project" ? sql`AND id = (SELECT product_id FROM projects WHERE projects.id = ${scope.id})` : sql``}
      ${name === null ? sql`` : sql`AND name = ${name}`}
      ${text === undefined ? sql`` : sql`AND strpos(lower(name), lower(${text})) > 0`}`;
}
