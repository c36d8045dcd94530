import { Type, type Static } from "@sinclair/typebox";
import { VulnerabilityCounts } from "../findings/lists/vulnerability-counts.ts";
import { nameCharactersMax } from "../../accounts/limits.ts";
import { lineOf } from "../api/operations/fields.ts";

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
