import type { Queries } from "../../backing/backing.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { referenceTo, requireResource, resourceNotFound } from "../resources/resource.ts";
import { selectProductIdByName } from "./store.ts";

/**
 * @param product its id, or its exact name
 * @returns its id
 * @throws DomainError not_found
 */
export async function requireProduct(
  { workspace, product }: { workspace: WorkspaceId; product: string },
  sql: Queries,
): Promise<string> {
  const reference = referenceTo("product", product);
  if ("id" in reference) {
    await requireResource("product", { workspace, ...reference }, sql);
    return reference.id;
  }
  const id = await selectProductIdByName({ workspace, ...reference }, sql);
  if (id === undefined) throw resourceNotFound("product", reference);
  return id;
}
