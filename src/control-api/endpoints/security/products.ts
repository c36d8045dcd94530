import { Type } from "@sinclair/typebox";
import { controlRowsMax } from "../../limits.ts";
import { createProduct, requireProduct } from "../../../security/projects/products.ts";
import { ProductForm, ProductView, viewProductOf, viewProducts } from "../../../security/projects/product-schema.ts";
import { selectProducts } from "../../../security/projects/product-store.ts";
import { endpoint, type Endpoint } from "../../endpoint.ts";
import { inWorkspace, listOf, NamedWorkspace, parseRowLimit, parseRowOffset, rowLimit, RowOffset } from "../../fields.ts";

export const productEndpoints: Endpoint[] = [
  endpoint({
    method: "POST",
    path: "/products",
    summary: "Create a product, which groups projects",
    fields: inWorkspace(ProductForm),
    view: ProductView,
    status: 201,
    async handle({ input: { workspace: named, name }, actors, parts }) {
      const { actor, workspace } = await actors.inWorkspace(named);
      const id = await createProduct({ actor, workspace: workspace.id, name }, parts);
      return viewProductOf({ workspace: workspace.id, id }, parts.sql);
    },
  }),
  endpoint({
    method: "GET",
    path: "/products",
    summary: "List products by name, with their live vulnerabilities",
    fields: Type.Object({
      workspace: NamedWorkspace,
      limit: rowLimit({ normal: controlRowsMax, max: controlRowsMax }),
      offset: RowOffset,
    }),
    view: listOf(ProductView),
    async handle({ input, actors, parts: { sql } }) {
      const { workspace } = await actors.inWorkspace(input.workspace);
      const limit = parseRowLimit(input.limit, { normal: controlRowsMax, max: controlRowsMax });
      const page = { scope: { kind: "workspace" }, name: null, limit, offset: parseRowOffset(input.offset) } as const;
      return { data: await viewProducts(await selectProducts({ workspace: workspace.id, ...page }, sql), sql) };
    },
  }),
  endpoint({
    method: "GET",
    path: "/products/:id",
    summary: "Show a product",
    fields: Type.Object({ workspace: NamedWorkspace }),
    view: ProductView,
    async handle({ input, id: product, actors, parts: { sql } }) {
      const { workspace } = await actors.inWorkspace(input.workspace);
      const id = await requireProduct({ workspace: workspace.id, product }, sql);
      return viewProductOf({ workspace: workspace.id, id }, sql);
    },
  }),
];
