/**
 * Endpoints for projects and products of the security platform. Without a limit, a list is complete, up to its bound.
 */
import { Type, type Static } from "@sinclair/typebox";
import { line } from "../../accounts/workspaces/fields.ts";
import { listRowsMax } from "../../http/limits.ts";
import { FixPlan, planFixes } from "../../security/findings/details/fix-plan.ts";
import { componentRowsDefault, componentRowsMax, projectMoveMs } from "../../security/limits.ts";
import type { Scope } from "../../security/operation.ts";
import { ActivityView, listActivity } from "../../security/projects/activity.ts";
import { findComponents, FoundComponentPage, soughtName } from "../../security/projects/component-search.ts";
import {
  compareSboms,
  ComponentPage,
  DifferenceView,
  KeptSbomView,
  LicenseView,
  listComponents,
  listLicenses,
  listSboms,
} from "../../security/projects/inventory.ts";
import { ProductForm, ProductView, viewProductOf, viewProducts } from "../../security/projects/product-schema.ts";
import { selectProducts } from "../../security/projects/product-store.ts";
import { requireProduct, createProduct } from "../../security/projects/products.ts";
import { requireProject, setProduct } from "../../security/projects/projects.ts";
import { TrendDay, trendOf } from "../../security/projects/trend.ts";
import { ProjectDetailsView, ProjectView, viewProjectOf, viewProjects } from "../../security/projects/schema.ts";
import { showProject } from "../../security/projects/show.ts";
import { selectProjects } from "../../security/projects/store.ts";
import { selectScanTotals } from "../../security/scans/comparison-store.ts";
import {
  inWorkspace,
  listOf,
  NamedWorkspace,
  parseRowLimit,
  parseRowOffset,
  parseTime,
  rowLimit,
  RowOffset,
  timeOf,
  wordOf,
} from "../fields.ts";
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
    takesToolsKey: true,
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
    takesToolsKey: true,
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
    takesToolsKey: true,
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

/** What asks for components without a licence. */
const withoutLicense = "none";
const componentPage = { normal: componentRowsDefault, max: componentRowsMax };
const partPage = { normal: componentRowsDefault, max: listRowsMax };

/** What a project is made of, and what happened to it. */
export const projectPartEndpoints = {
  state: endpoint({
    method: "GET",
    path: "/projects/:id/state",
    command: "project state",
    takesToolsKey: true,
    summary: "Show the state of a project's scan and its live vulnerabilities, without its contents",
    fields: Type.Object({ workspace: NamedWorkspace }),
    view: ProjectView,
    async handle({ input, id: named, actors, parts }) {
      const { workspace } = await actors.inWorkspace(input.workspace);
      const id = await requireProject({ workspace: workspace.id, project: named }, parts.sql);
      return viewProjectOf({ workspace: workspace.id, id }, parts);
    },
  }),
  components: endpoint({
    method: "GET",
    path: "/projects/:id/components",
    command: "project components",
    takesToolsKey: true,
    summary: "List the components of a project's SBOM, with their licences and how the project depends on them",
    fields: Type.Object({
      workspace: NamedWorkspace,
      sbom: Type.Optional(
        line("the id of an SBOM of the project", { title: "Of this SBOM; default: the current one", minLength: 1 }),
      ),
      text: Type.Optional(
        line("a part of a component's name", { title: "Only those with this text in their name", minLength: 1 }),
      ),
      license: Type.Optional(
        line("a licence", { title: "Only those with exactly this licence; none: those without one", minLength: 1 }),
      ),
      relation: Type.Optional(
        wordOf(["direct", "transitive", "unknown"], { title: "Only those on which the project depends in this way" }),
      ),
      vulnerable: Type.Optional(
        wordOf(["true", "false"], {
          title: "Only those with, or without, an open vulnerability",
          description: "true for components with an open vulnerability, or false,",
        }),
      ),
      limit: rowLimit(componentPage),
      offset: RowOffset,
    }),
    view: ComponentPage,
    async handle({ input, id: named, actors, parts }) {
      const { workspace } = await actors.inWorkspace(input.workspace);
      const project = await requireProject({ workspace: workspace.id, project: named }, parts.sql);
      const { text = null, license, relation = null, vulnerable, sbom = null } = input;
      const filter = {
        text,
        license: license === undefined ? null : license === withoutLicense ? "" : license,
        relation,
        vulnerable: vulnerable === undefined ? null : vulnerable === "true",
      };
      const page = { limit: parseRowLimit(input.limit, componentPage), offset: parseRowOffset(input.offset) };
      return listComponents({ workspace: workspace.id, project, sbom, filter, page }, parts);
    },
  }),
  licenses: endpoint({
    method: "GET",
    path: "/projects/:id/licenses",
    command: "project licenses",
    summary: "Count the components of a project's current SBOM by licence",
    fields: Type.Object({ workspace: NamedWorkspace }),
    view: listOf(LicenseView),
    async handle({ input, id: named, actors, parts: { sql } }) {
      const { workspace } = await actors.inWorkspace(input.workspace);
      const project = await requireProject({ workspace: workspace.id, project: named }, sql);
      return { data: await listLicenses({ workspace: workspace.id, project }, sql) };
    },
  }),
  fixes: endpoint({
    method: "GET",
    path: "/projects/:id/fixes",
    command: "project fixes",
    takesToolsKey: true,
    summary: "List the version of each vulnerable component that clears all its findings, the most severe first",
    fields: Type.Object({ workspace: NamedWorkspace, limit: rowLimit(partPage), offset: RowOffset }),
    view: FixPlan,
    async handle({ input, id: named, actors, parts }) {
      const { workspace } = await actors.inWorkspace(input.workspace);
      const project = await requireProject({ workspace: workspace.id, project: named }, parts.sql);
      const page = { limit: parseRowLimit(input.limit, partPage), offset: parseRowOffset(input.offset) };
      return planFixes({ workspace: workspace.id, project, page }, parts);
    },
  }),
  sboms: endpoint({
    method: "GET",
    path: "/projects/:id/sboms",
    command: "project sboms",
    summary: "List the SBOMs of a project that are kept, newest first",
    fields: Type.Object({ workspace: NamedWorkspace }),
    view: listOf(KeptSbomView),
    async handle({ input, id: named, actors, parts: { sql } }) {
      const { workspace } = await actors.inWorkspace(input.workspace);
      const project = await requireProject({ workspace: workspace.id, project: named }, sql);
      return { data: await listSboms({ workspace: workspace.id, project }, sql) };
    },
  }),
  difference: endpoint({
    method: "GET",
    path: "/projects/:id/difference",
    command: "project difference",
    summary: "Compare two SBOMs of a project: the packages that were added, removed or have other versions",
    fields: Type.Object({
      workspace: NamedWorkspace,
      before: line("the id of an SBOM of the project", { title: "The earlier SBOM", minLength: 1 }),
      after: line("the id of an SBOM of the project", { title: "The later SBOM", minLength: 1 }),
      limit: rowLimit(partPage),
      offset: RowOffset,
    }),
    view: DifferenceView,
    async handle({ input, id: named, actors, parts: { sql } }) {
      const { workspace } = await actors.inWorkspace(input.workspace);
      const project = await requireProject({ workspace: workspace.id, project: named }, sql);
      const page = { limit: parseRowLimit(input.limit, partPage), offset: parseRowOffset(input.offset) };
      return compareSboms({ workspace: workspace.id, project, before: input.before, after: input.after, page }, sql);
    },
  }),
  trend: endpoint({
    method: "GET",
    path: "/projects/:id/trend",
    command: "project trend",
    summary: "Count a project's live findings by severity at the end of each of the last 30 days in UTC, the oldest first",
    fields: Type.Object({ workspace: NamedWorkspace }),
    view: listOf(TrendDay),
    async handle({ input, id: named, actors, parts: { sql, clock } }) {
      const { workspace } = await actors.inWorkspace(input.workspace);
      const project = await requireProject({ workspace: workspace.id, project: named }, sql);
      return { data: await trendOf({ project, nowMs: clock.now() }, sql) };
    },
  }),
  activity: endpoint({
    method: "GET",
    path: "/projects/:id/activity",
    command: "project activity",
    summary: "List what people did in a project, newest first: uploads, decisions, and accepted risks that ended",
    fields: Type.Object({
      workspace: NamedWorkspace,
      before: Type.Optional(timeOf("Only what happened before this time, for the next page")),
      limit: rowLimit(partPage),
    }),
    view: listOf(ActivityView),
    async handle({ input, id: named, actors, parts: { sql } }) {
      const { workspace } = await actors.inWorkspace(input.workspace);
      const project = await requireProject({ workspace: workspace.id, project: named }, sql);
      const page = { before: parseTime(input.before, "before"), limit: parseRowLimit(input.limit, partPage) };
      return { data: await listActivity({ workspace: workspace.id, project, ...page }, sql) };
    },
  }),
};

export const componentEndpoints = {
  find: endpoint({
    method: "GET",
    path: "/components",
    command: "component list",
    takesToolsKey: true,
    summary:
      "Find a component in the current SBOMs of all projects, with its versions, its open findings and the age of each SBOM",
    fields: Type.Object({
      workspace: NamedWorkspace,
      name: soughtName,
      exact: Type.Optional(
        wordOf(["true", "false"], {
          title: "Only components of exactly this name, with or without its group; default: also those that begin with it",
          description: "true or false",
        }),
      ),
      limit: rowLimit(partPage),
      offset: RowOffset,
    }),
    view: FoundComponentPage,
    async handle({ input: { name, exact, ...input }, actors, parts: { sql } }) {
      const { workspace } = await actors.inWorkspace(input.workspace);
      const page = { limit: parseRowLimit(input.limit, partPage), offset: parseRowOffset(input.offset) };
      const search = { workspace: workspace.id, scope: { kind: "workspace" }, name, isWhole: exact === "true", page } as const;
      const { rows: data, total, projects, cut } = await findComponents({ ...search, isForMcp: false }, sql);
      return { data, total, projects, cut };
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
      text: Type.Optional(line("a part of a product's name", { title: "Only those with this text in their name", minLength: 1 })),
      limit: rowLimit({ normal: controlRowsMax, max: controlRowsMax }),
      offset: RowOffset,
    }),
    view: listOf(ProductView),
    async handle({ input, actors, parts: { sql } }) {
      const { workspace } = await actors.inWorkspace(input.workspace);
      const limit = parseRowLimit(input.limit, { normal: controlRowsMax, max: controlRowsMax });
      const { text } = input;
      const page = { scope: { kind: "workspace" }, name: null, text, limit, offset: parseRowOffset(input.offset) } as const;
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
