import { Type } from "@sinclair/typebox";
import { controlRowsMax } from "../../limits.ts";
import { projectMoveMs } from "../../../security/limits.ts";
import { ProjectView } from "../../../security/projects/schema.ts";
import { setProduct } from "../../../security/projects/set-product.ts";
import { selectProjects } from "../../../security/projects/store.ts";
import { viewProjectOf, viewProjects } from "../../../security/projects/view.ts";
import { line } from "../../../accounts/workspaces/fields.ts";
import { endpoint, type Endpoint } from "../../endpoint.ts";
import { listOf, NamedWorkspace } from "../../fields.ts";

export const projectEndpoints: Endpoint[] = [
  endpoint({
    method: "GET",
    path: "/projects",
    summary: "List projects by name, with the state of their scans and their live vulnerabilities",
    fields: Type.Object({ workspace: NamedWorkspace }),
    view: listOf(ProjectView),
    async handle({ input, actors, parts }) {
      const { workspace } = await actors.inWorkspace(input.workspace);
      const page = { scope: { kind: "workspace" }, name: null, limit: controlRowsMax, offset: 0 } as const;
      return { data: await viewProjects(await selectProjects({ workspace: workspace.id, ...page }, parts.sql), parts) };
    },
  }),
  endpoint({
    method: "PATCH",
    path: "/projects/:id",
    summary: "Put a project into another product, with its findings; null puts it into none",
    fields: Type.Object({
      workspace: NamedWorkspace,
      product: Type.Union([line("the id of a product, or its name", { minLength: 1 }), Type.Null()], {
        description: "the id or exact name of a product, or null,",
      }),
    }),
    view: ProjectView,
    deadlineMs: projectMoveMs,
    async handle({ input: { workspace: named, product }, id: project, actors, parts }) {
      const { actor, workspace } = await actors.inWorkspace(named);
      const id = await setProduct({ actor, workspace: workspace.id, project, product }, parts);
      return viewProjectOf({ workspace: workspace.id, id }, parts);
    },
  }),
];
