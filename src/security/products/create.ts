import type { Actor } from "../../accounts/audit/actor.ts";
import { change, type Sources } from "../../accounts/audit/change.ts";
import { isToolsId, newToolsId, type WorkspaceId } from "../../kernel/ids.ts";
import { authorize, writers } from "../../accounts/workspaces/authorize.ts";
import { DomainError } from "../../accounts/errors.ts";
import { requireResourceQuota, resourceCreated } from "../resources/resource.ts";
import { requireProduct } from "./require.ts";
import { insertProduct } from "./store.ts";

/**
 * Creates a product.
 * @returns the product's id
 * @throws DomainError conflict for an existing name or a full quota; invalid_field for a name of the form of an id; forbidden for auditors
 */
export async function createProduct(
  { actor, workspace, name }: { actor: Actor; workspace: WorkspaceId; name: string },
  sources: Sources,
): Promise<string> {
  authorize(actor, { roles: writers, action: "create a product" });
  if (isToolsId("prd", name)) {
    throw new DomainError("invalid_field", `Cannot call a product "${name}": the name has the form of an id`, { field: "name" });
  }
  return change(actor, sources, async (tx) => {
    const now = sources.clock.now();
    const id = newToolsId("prd", now);
    if (await insertProduct({ id, workspace, name, at: new Date(now) }, tx)) {
      await requireResourceQuota("product", workspace, tx);
      return { result: id, event: resourceCreated("product", { workspace, id, name }) };
    }
    const known = await requireProduct({ workspace, product: name }, tx);
    throw new DomainError("conflict", `There is a product "${name}" already, with the id "${known}"`, { field: "name" });
  });
}
