import type { Queries } from "../../backing/backing.ts";
import { countVulnerabilities, type VulnerabilityCounts } from "../findings/lists/vulnerability-counts.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { resourceNotFound } from "../resources/resource.ts";
import type { ProductView } from "./schema.ts";
import { selectProducts, type ProductRow } from "./store.ts";

/** Views each product with its counts. */
export async function viewProducts(rows: readonly ProductRow[], sql: Queries): Promise<ProductView[]> {
  const ids = rows.map(({ id }) => id);
  const counts = await countVulnerabilities(ids, sql);
  return rows.map(({ id, name, projects, sboms, scanned, blind }) => {
    const counted = counts.get(id);
    if (counted === undefined) throw new Error(`The product ${id} was not counted`);
    return {
      id,
      name,
      projects_count: projects,
      sboms_count: sboms,
      vulnerability_counts: counted,
      // Without advisories, nothing open is no verdict.
      posture: scanned && (counted.total > 0 || !blind) ? postureOf(counted) : null,
    };
  });
}

function postureOf({ critical, high, medium, total }: VulnerabilityCounts): ProductView["posture"] {
  if (critical > 0) return "F";
  if (high > 0) return "D";
  if (medium > 0) return "C";
  return total > 0 ? "B" : "A";
}

/** @throws DomainError not_found */
export async function viewProductOf(
  { workspace, id }: { workspace: WorkspaceId; id: string },
  sql: Queries,
): Promise<ProductView> {
  const rows = await selectProducts({ workspace, scope: { kind: "product", id }, name: null, limit: 1, offset: 0 }, sql);
  const [view] = await viewProducts(rows, sql);
  if (view === undefined) throw resourceNotFound("product", { id });
  return view;
}
