/** A scanned project in a product, and one outside it, as agents see them. */
import type { TestDatabase } from "../servers/databases.ts";
import { objectOf } from "../control.ts";
import { fixedIn, lodash } from "./security-world.ts";
import { twoWorkspaces, type TwoWorkspaces } from "./two-workspaces.ts";

/** An app that needs `express`, which needs `lodash`; and three that nothing leads to. */
export const shop = {
  bomFormat: "CycloneDX",
  specVersion: "1.6",
  metadata: { component: { type: "application", "bom-ref": "app", name: "shop" } },
  components: [
    { type: "library", "bom-ref": "express", name: "express", version: "4.0.0", purl: "pkg:npm/express@4.0.0" },
    { type: "library", "bom-ref": "lodash", name: "lodash", version: "4.17.20", purl: "pkg:npm/lodash@4.17.20" },
    { type: "library", "bom-ref": "odd", name: "lodash", version: "latest", purl: "pkg:npm/lodash@latest" },
    { type: "library", "bom-ref": "system", name: "zlib", version: "1.2", purl: "pkg:deb/debian/zlib@1.2" },
    { type: "library", "bom-ref": "unnamed", name: "left" },
    { type: "library", "bom-ref": "versionless", name: "lodash", purl: "pkg:npm/lodash" },
  ],
  dependencies: [
    { ref: "app", dependsOn: ["express"] },
    { ref: "express", dependsOn: ["lodash"] },
  ],
};

export interface Shop extends TwoWorkspaces {
  /** The id of the project "shop", whose present document is the one above. */
  project: string;
  /** The id of the product "suite" that it is in. */
  product: string;
}

export async function openShop(open: () => Promise<TestDatabase>): Promise<Shop> {
  const stage = await twoWorkspaces(open);
  await stage.world.publish(lodash("CVE-2020-1"), lodash("CVE-2020-2", {}, fixedIn("4.17.19")));
  await stage.database.sql`
    UPDATE vulnerabilities SET severity = 'high', score = 7.5, rank = 3075, description = 'An issue'`;
  const stored = await stage.api.data("upload_sbom", { sbom: shop, project: "shop", product: "suite", filename: "shop.json" });
  await stage.upload("alone");
  await stage.world.scan();
  const [product] = rowsOf(await stage.api.data("list_products"), "products");
  return { ...stage, project: String(stored["project_id"]), product: String(product?.["id"]) };
}

/** The rows of a list, or of a part of an answer. */
export function rowsOf(data: Record<string, unknown>, plural: string): Record<string, unknown>[] {
  return Array.isArray(data[plural]) ? data[plural].map(objectOf) : [];
}
