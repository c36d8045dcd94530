import { operation } from "../api/operations/operation.ts";
import { createProduct as create } from "./create.ts";
import { ProductForm, ProductView } from "./schema.ts";
import { viewProductOf } from "./view.ts";

export const createProduct = operation({
  title: "Create a product",
  description: "Creates a product, which groups projects. Names are unique in a workspace; upper and lower case differ.",
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  addition: true,
  input: ProductForm,
  data: ProductView,
  async handle({ input: { name }, caller, parts }) {
    const { workspace } = caller;
    const id = await create({ actor: caller.actor, workspace, name }, parts);
    return { data: await viewProductOf({ workspace, id }, parts.sql), message: `The product ${name} is created` };
  },
});
