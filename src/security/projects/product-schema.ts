/**
 * Products as the API shows them, with counts and posture.
 *
 * The posture is the worst live finding as a letter. It is null until a project has been scanned. It is also null if there are no findings
 * but a project could not be compared with advisories, because that is not a verdict. Counts and posture are computed for each answer.
 */
import { Type, type Static } from "@sinclair/typebox";
import { nameCharactersMax } from "../../accounts/limits.ts";
import type { Queries } from "../../backing/backing.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { lineOf } from "../fields.ts";
import { VulnerabilityCounts, countVulnerabilities } from "../findings/lists/list-rows.ts";
import { resourceNotFound } from "../resource.ts";
import { selectProducts, type ProductRow } from "./product-store.ts";

export const ProductForm = Type.Object({ name: lineOf({ title: "Its name", min: 1, max: nameCharactersMax }) });

const posture = Type.Union(
  [Type.Literal("A"), Type.Literal("B"), Type.Literal("C"), Type.Literal("D"), Type.Literal("F"), Type.Null()],
  {
    description:
      "The grade of its most severe live vulnerability: F critical, D high, C medium, B low or without a severity, A no vulnerability; null " +
      "when none of its projects was scanned yet, or nothing is found and one of them is not_comparable",
  },
);

export const ProductView = Type.Object(
  {
    id: Type.String({ description: "The product's id" }),
    name: Type.String({ description: "Its name, unique in the workspace" }),
    projects_count: Type.Integer({ description: "Projects in it" }),
    sboms_count: Type.Integer({ description: "SBOMs of these projects, including former ones" }),
    vulnerability_counts: VulnerabilityCounts,
    posture,
  },
  { description: "A product" },
);
export type ProductView = Static<typeof ProductView>;

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
      posture: scanned && (counted.total > 0 || !blind) ? postureOf(counted) : null,
    };
  });
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

function postureOf({ critical, high, medium, total }: VulnerabilityCounts): ProductView["posture"] {
  if (critical > 0) return "F";
  if (high > 0) return "D";
  if (medium > 0) return "C";
  return total > 0 ? "B" : "A";
}
