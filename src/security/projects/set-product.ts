import type { Actor } from "../../accounts/audit/actor.ts";
import { change, type Sources } from "../../accounts/audit/change.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { requireProduct } from "../products/require.ts";
import { authorize, writers } from "../../accounts/workspaces/authorize.ts";
import { referenceTo, resourceNotFound } from "../resources/resource.ts";
import { lockProject, updateProduct, type ProjectRow } from "./store.ts";

export interface ProjectMove {
  actor: Actor;
  workspace: WorkspaceId;
  /** Id or exact name. */
  project: string;
  /** Id or exact name; null takes the project out of its product. */
  product: string | null;
}

/**
 * Moves a project with its findings to another product. A move to its own product changes nothing and is not recorded.
 * @returns the project's id
 * @throws DomainError not_found; forbidden for auditors
 */
export async function setProduct({ actor, workspace, project, product }: ProjectMove, sources: Sources): Promise<string> {
  authorize(actor, { roles: writers, action: "change a project" });
  return change(actor, sources, async (tx) => {
    const reference = referenceTo("project", project);
    const row = await lockProject({ workspace, ...reference }, tx);
    if (!row) throw resourceNotFound("project", reference);
    const target = product === null ? null : await requireProduct({ workspace, product }, tx);
    if (target === row.product) return { result: row.id, event: null };
    await updateProduct({ id: row.id, product: target }, tx);
    return { result: row.id, event: moved({ workspace, row, target }) };
  });
}

function moved({ workspace, row, target }: { workspace: WorkspaceId; row: ProjectRow; target: string | null }) {
  const changes = { product_id: { from: row.product, to: target } };
  return { event: "project.updated", workspace, target: row.id, changes };
}
