/**
 * Projects: list, show, find by id or exact name, create on first use, and move to another product with all findings. Moving a project to
 * its current product changes nothing and is not recorded. If another transaction is creating the same project, the lookup waits and then
 * finds it.
 */
import { Type } from "@sinclair/typebox";
import { type Actor, authorize, writers } from "../../accounts/audit/actor.ts";
import { change, type Sources, type AuditEvent } from "../../accounts/audit/change.ts";
import type { Queries, Transaction } from "../../backing/backing.ts";
import { listRowsMax } from "../../http/limits.ts";
import { isToolsId, type WorkspaceId, newToolsId } from "../../kernel/ids.ts";
import { nameFilter, listData, pageAnswer, pageFields, idField } from "../fields.ts";
import { operation, reading } from "../operation.ts";
import { projectRowsDefault, projectFindingsMax, projectItemsMax, projectMoveMs } from "../limits.ts";
import { resourceNotFound, referenceTo, requireResource, resourceCreated } from "../resource.ts";
import { blindness, gaps, withoutAdvisories } from "./coverage.ts";
import { requireProduct } from "./products.ts";
import { ProjectView, viewProjects, ProjectDetailsView, viewProjectOf } from "./schema.ts";
import { showProject } from "./show.ts";
import * as store from "./store.ts";

export const listProjects = operation({
  title: "List projects",
  description:
    "Lists projects of the active scope by name, with the state of their scans and how many live vulnerabilities they have. `name` is " +
    `the whole, exact name. A project that is not_comparable has no verdict: there are no advisories for it. A response has at most ${listRowsMax} rows, even when the limit is higher.`,
  annotations: reading,
  input: Type.Object({ name: nameFilter("Projects of exactly this name"), ...pageFields({ normal: projectRowsDefault }) }),
  data: listData("projects", ProjectView),
  async handle({ input: { name, limit: requested, offset }, caller: { workspace, scope }, parts }) {
    const { sql } = parts;
    const filter = { workspace, scope, name: name ?? null };
    const limit = Math.min(requested, listRowsMax);
    const total = await store.countProjects(filter, sql);
    const rows = await store.selectProjects({ ...filter, limit, offset }, sql);
    const hint = total === 0 && name !== undefined ? ". A name must match exactly" : "";
    return {
      data: { projects: await viewProjects(rows, parts), ...pageAnswer({ limit, offset }, { total, rows: rows.length }) },
      message: `${rows.length} of ${total} projects${hint}`,
    };
  },
});

export const getProject = operation({
  title: "Get a project",
  description:
    `Shows a project with its components, live vulnerabilities and unknown matches, the first ${projectItemsMax} of each with the total, and ` +
    "its metrics. list_findings lists all of its findings by its id. Finding no vulnerabilities is a verdict only as far as `coverage` in the " +
    "metrics goes: `not_comparable` says that there are no advisories for any of its components.",
  annotations: reading,
  input: Type.Object({ project_id: idField("Id of the project") }),
  data: ProjectDetailsView,
  async handle({ input: { project_id: id }, caller: { workspace }, parts }) {
    const project = await showProject({ workspace, id }, parts);
    return { data: project, message: `${project.name}: ${sentence(project)}` };
  },
});

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

interface ProjectMove {
  actor: Actor;
  workspace: WorkspaceId;
  /** Id or exact name. */
  project: string;
  /** Id or exact name; null takes the project out of its product. */
  product: string | null;
}

/**
 * Moves a project with its findings to another product. A move to its current product changes nothing and is not recorded.
 * @returns the project's id
 * @throws DomainError not_found; forbidden for auditors
 */
export async function setProduct({ actor, workspace, project, product }: ProjectMove, sources: Sources): Promise<string> {
  authorize(actor, { roles: writers, action: "change a project" });
  return change(actor, sources, async (tx) => {
    const reference = referenceTo("project", project);
    const row = await store.lockProject({ workspace, ...reference }, tx);
    if (!row) throw resourceNotFound("project", reference);
    const target = product === null ? null : await requireProduct({ workspace, product }, tx);
    if (target === row.product) return { result: row.id, event: null };
    await store.updateProduct({ id: row.id, product: target }, tx);
    return { result: row.id, event: moved({ workspace, row, target }) };
  });
}

/**
 * @param project id or exact name
 * @returns its id
 * @throws DomainError not_found
 */
export async function requireProject(
  { workspace, project }: { workspace: WorkspaceId; project: string },
  sql: Queries,
): Promise<string> {
  const reference = referenceTo("project", project);
  if ("id" in reference) {
    await requireResource("project", { workspace, ...reference }, sql);
    return reference.id;
  }
  const id = await store.selectProjectIdByName({ workspace, ...reference }, sql);
  if (id === undefined) throw resourceNotFound("project", reference);
  return id;
}

interface NamedProject {
  workspace: WorkspaceId;
  /** Id or exact name; a new name creates a project. */
  project: string;
  at: Date;
}

interface FoundProject {
  /** Locked until the transaction ends. */
  project: store.ProjectRow;
  /** The creation event; empty if the project existed. */
  events: AuditEvent[];
}

/** @throws DomainError not_found for an id that the workspace does not have */
export async function findOrCreateProject({ workspace, project, at }: NamedProject, tx: Transaction): Promise<FoundProject> {
  const reference = referenceTo("project", project);
  if ("id" in reference) {
    const row = await store.lockProject({ workspace, ...reference }, tx);
    if (!row) throw resourceNotFound("project", reference);
    return { project: row, events: [] };
  }
  const id = newToolsId("prj", at.getTime());
  // If another transaction is creating the project, this statement waits for it, and the next one sees the project.
  const made = await store.insertProject({ id, workspace, name: project, provider: "upload", at }, tx);
  const row = await store.lockProject({ workspace, name: project }, tx);
  // It was removed between the two statements.
  if (!row) return findOrCreateProject({ workspace, project, at }, tx);
  return { project: row, events: made ? [resourceCreated("project", { workspace, id, name: project })] : [] };
}

function sentence(project: ProjectDetailsView): string {
  const { components, vulnerabilities, scan_status: status, scan_queue_position: before, findings_left_out: leftOut } = project;
  const made = `${components.total} components, ${vulnerabilities.total} live vulnerabilities`;
  const cut = leftOut === 0 ? "" : `; ${leftOut} findings are left out, since a project has at most ${projectFindingsMax}`;
  if (status === "completed") return [made + cut, ...gaps(project)].join("; ");
  const blind = blindness(project);
  if (blind !== null) {
    const remedy = withoutAdvisories(project).size === 0 ? "" : ". The operator imports them";
    return `${made}, which is no verdict: ${blind}${remedy}`;
  }
  const line = before === null || before === 0 ? "" : ` behind ${before} others`;
  return `${made}${cut}; its scan is ${status === "never" ? "not requested yet" : `${status}${line}`}`;
}

function moved({ workspace, row, target }: { workspace: WorkspaceId; row: store.ProjectRow; target: string | null }): AuditEvent {
  const changes = { product_id: { from: row.product, to: target } };
  return { event: "project.updated", workspace, target: row.id, changes };
}
