import type { AuditEvent } from "../../accounts/audit/change.ts";
import type { Transaction } from "../../backing/backing.ts";
import { isToolsId, newToolsId, type WorkspaceId } from "../../kernel/ids.ts";
import { resourceCreated } from "../resources/resource.ts";
import { requireProduct } from "./require.ts";
import { insertProduct } from "./store.ts";

export interface NamedProduct {
  workspace: WorkspaceId;
  /** Its id, or its exact name. A product with a new name is created. */
  product: string;
  at: Date;
}

export interface FoundProduct {
  id: string;
  /** The event of the creation; empty when the product existed. */
  events: AuditEvent[];
}

/** @throws DomainError not_found for an id that the workspace does not have */
export async function findOrCreateProduct({ workspace, product, at }: NamedProduct, tx: Transaction): Promise<FoundProduct> {
  if (!isToolsId("prd", product)) {
    const id = newToolsId("prd", at.getTime());
    const made = await insertProduct({ id, workspace, name: product, at }, tx);
    if (made) return { id, events: [resourceCreated("product", { workspace, id, name: product })] };
  }
  return { id: await requireProduct({ workspace, product }, tx), events: [] };
}
