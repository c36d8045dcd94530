/**
 * What products and projects have in common: an id, a name that is unique in a workspace, a limit per workspace, and a creation event. A
 * text that looks like an id is never a name. A resource of another workspace is not found, just like one that does not exist.
 */
import type { AuditEvent } from "../accounts/audit/change.ts";
import { DomainError, quotaFull } from "../accounts/errors.ts";
import { lockQuota } from "../accounts/quotas/store.ts";
import type { Queries, Transaction } from "../backing/backing.ts";
import { isToolsId, type WorkspaceId } from "../kernel/ids.ts";
import { productsPerWorkspaceMax, projectsPerWorkspaceMax } from "./limits.ts";
import { countResources, resourceExists } from "./resource-store.ts";

type ResourceKind = "product" | "project";

const kinds = {
  product: { prefix: "prd", plural: "products", max: productsPerWorkspaceMax, limit: "productsPerWorkspaceMax" },
  project: { prefix: "prj", plural: "projects", max: projectsPerWorkspaceMax, limit: "projectsPerWorkspaceMax" },
} as const;

type ResourceReference = { id: string } | { name: string };

/** @param idOrName a text that looks like an id is never a name */
export function referenceTo(kind: ResourceKind, idOrName: string): ResourceReference {
  return isToolsId(kinds[kind].prefix, idOrName) ? { id: idOrName } : { name: idOrName };
}

/** Gives the same answer for a resource of another workspace as for one that does not exist. */
export function resourceNotFound(kind: ResourceKind, reference: ResourceReference): DomainError {
  const named = "id" in reference ? `with the id "${reference.id}"` : `"${reference.name}"`;
  return new DomainError("not_found", `There is no ${kind} ${named}`, { field: kind });
}

/** @throws DomainError not_found */
export async function requireResource(
  kind: ResourceKind,
  { workspace, id }: { workspace: WorkspaceId; id: string },
  sql: Queries,
): Promise<void> {
  if (!(await resourceExists({ table: kinds[kind].plural, workspace, id }, sql))) throw resourceNotFound(kind, { id });
}

/** Call it last in the transaction, after the new row is written, because it makes other transactions wait. @throws DomainError conflict */
export async function requireResourceQuota(kind: ResourceKind, workspace: WorkspaceId, tx: Transaction): Promise<void> {
  const { plural, max, limit } = kinds[kind];
  await lockQuota({ workspace, counted: plural }, tx);
  if ((await countResources({ table: plural, workspace }, tx)) > max) throw quotaFull({ what: plural, max, limit }, kind);
}

export function resourceCreated(
  kind: ResourceKind,
  { workspace, id, name }: { workspace: WorkspaceId; id: string; name: string },
): AuditEvent {
  return { event: `${kind}.created`, workspace, target: id, changes: { name: { from: null, to: name } } };
}
