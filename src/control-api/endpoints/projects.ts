/**
 * Endpoints for projects and products of the security platform. Without a limit, a list is complete, up to its bound.
 */
import { Type, type Static } from "@sinclair/typebox";
import { line } from "../../accounts/workspaces/fields.ts";
import { projectMoveMs } from "../../security/limits.ts";
import type { Scope } from "../../security/operation.ts";
import { ProductForm, ProductView, viewProductOf, viewProducts } from "../../security/projects/product-schema.ts";
import { selectProducts } from "../../security/projects/product-store.ts";
import { requireProduct, createProduct } from "../../security/projects/products.ts";
import { requireProject, setProduct } from "../../security/projects/projects.ts";
import { ProjectDetailsView, ProjectView, viewProjectOf, viewProjects } from "../../security/projects/schema.ts";
import { showProject } from "../../security/projects/show.ts";
import { selectProjects } from "../../security/projects/store.ts";
import { selectScanTotals } from "../../security/scans/comparison-store.ts";
import { listOf, NamedWorkspace, parseRowLimit, parseRowOffset, rowLimit, RowOffset, inWorkspace } from "../fields.ts";
import { endpoint } from "../endpoint.ts";
import { controlRowsMax } from "../limits.ts";

/** Without a limit, a list is complete. */
const allRows = { normal: controlRowsMax, max: controlRowsMax };

const ScanTotals = Type.Object({
  scanned: Type.Integer({ description: "Projects that were scanned" }),
  not_comparable: Type.Integer({ description: "Those among them for whose components there are no advisories" }),
});
export type ScanTotals = Static<typeof ScanTotals>;

export const projectEndpoints = {
  list: endpoint({
    method: "GET",
    path: "/projects",
    command: "project list",
    summary: "List projects by name, with the state of their scans and their live vulnerabilities",
    fields: Type.Object({
      workspace: NamedWorkspace,
      product: Type.Optional(
        line("the id or exact name of a product", { title: "Only those of this product, by id or exact name", minLength: 1 }),
      ),
      text: Type.Optional(line("a part of a project's name", { title: "Only those with this text in their name", minLength: 1 })),
      limit: rowLimit(allRows),
      offset: RowOffset,
    }),
    view: listOf(ProjectView),
    async handle({ input: { product, text, ...input }, actors, parts }) {
      const { workspace } = await actors.inWorkspace(input.workspace);
      const scope: Scope =
        product === undefined
          ? { kind: "workspace" }
          : { kind: "product", id: await requireProduct({ workspace: workspace.id, product }, parts.sql) };
      const page = { limit: parseRowLimit(input.limit, allRows), offset: parseRowOffset(input.offset) };
      const rows = await selectProjects({ workspace: workspace.id, scope, name: null, text, ...page }, parts.sql);
      return { data: await viewProjects(rows, parts) };
    },
  }),
  countScans: endpoint({
    method: "GET",
    path: "/scans",
    command: "project scans",
    summary: "Count the projects that were scanned, and those among them that no advisory could be compared with",
    fields: Type.Object({
      workspace: NamedWorkspace,
      project: Type.Optional(
        line("the id or exact name of a project", { title: "Only this project, by id or exact name", minLength: 1 }),
      ),
      product: Type.Optional(
        line("the id or exact name of a product", { title: "Only those of this product, by id or exact name", minLength: 1 }),
      ),
    }),
    view: ScanTotals,
    async handle({ input: { project, product, ...input }, actors, parts: { sql } }) {
      const { workspace } = await actors.inWorkspace(input.workspace);
      const { id: of } = workspace;
      const scope =
        project !== undefined
          ? ({ kind: "project", id: await requireProject({ workspace: of, project }, sql) } as const)
          : product !== undefined
            ? ({ kind: "product", id: await requireProduct({ workspace: of, product }, sql) } as const)
            : ({ kind: "workspace", id: of } as const);
      const { scanned, notComparable } = await selectScanTotals(scope, sql);
      return { scanned, not_comparable: notComparable };
    },
  }),
  show: endpoint({
    method: "GET",
    path: "/projects/:id",
    command: "project show",
    summary: "Show a project with the first of its components, vulnerabilities and unknown matches",
    fields: Type.Object({ workspace: NamedWorkspace }),
    view: ProjectDetailsView,
    async handle({ input, id: project, actors, parts }) {
      const { workspace } = await actors.inWorkspace(input.workspace);
      const id = await requireProject({ workspace: workspace.id, project }, parts.sql);
      return showProject({ workspace: workspace.id, id }, parts);
    },
  }),
  move: endpoint({
    method: "PATCH",
    path: "/projects/:id",
    command: { name: "project set", flags: { id: "project" } },
    summary: "Move a project, with its findings, into another product, or into none",
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
};

export const productEndpoints = {
  create: endpoint({
    method: "POST",
    path: "/products",
    command: "product create",
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
  list: endpoint({
    method: "GET",
    path: "/products",
    command: "product list",
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
  show: endpoint({
    method: "GET",
    path: "/products/:id",
    command: "product show",
    summary: "Show a product",
    fields: Type.Object({ workspace: NamedWorkspace }),
    view: ProductView,
    async handle({ input, id: product, actors, parts: { sql } }) {
      const { workspace } = await actors.inWorkspace(input.workspace);
      const id = await requireProduct({ workspace: workspace.id, product }, sql);
      return viewProductOf({ workspace: workspace.id, id }, sql);
    },
  }),
};
