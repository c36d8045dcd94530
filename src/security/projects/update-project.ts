import { Type } from "@sinclair/typebox";
import { isToolsId } from "../../kernel/ids.ts";
import { projectMoveMs } from "../limits.ts";
import { idField } from "../api/operations/fields.ts";
import { operation } from "../api/operations/operation.ts";
import { resourceNotFound } from "../resources/resource.ts";
import { ProjectView } from "./schema.ts";
import { setProduct } from "./set-product.ts";
import { viewProjectOf } from "./view.ts";

export const updateProject = operation({
  title: "Move a project",
  description: "Moves a project with its findings to a product, or takes it out of its product.",
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  addition: true,
  deadlineMs: projectMoveMs,
  input: Type.Object({
    project_id: idField("Id of the project"),
    product_id: Type.Union([idField("Id of the product"), Type.Null()], {
      title: "Id of the new product, or null for none",
      description: "the id of a product, or null,",
    }),
  }),
  data: ProjectView,
  async handle({ input: { project_id: project, product_id: product }, caller, parts }) {
    if (!isToolsId("prj", project)) throw resourceNotFound("project", { id: project });
    if (product !== null && !isToolsId("prd", product)) throw resourceNotFound("product", { id: product });
    const { workspace } = caller;
    await setProduct({ actor: caller.actor, workspace, project, product }, parts);
    const view = await viewProjectOf({ workspace, id: project }, parts);
    return { data: view, message: `${view.name} is in ${product === null ? "no product" : `the product ${product}`}` };
  },
});
