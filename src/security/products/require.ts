import type { Queries } from "../../backing/backing.ts";
import { isToolsId, type WorkspaceId } from "../../kernel/ids.ts";
import { DomainError } from "../../accounts/errors.ts";
import { anyProduct, selectProductIdByName } from "./store.ts";

/**
 * @param product its id, or its exact name
 * @returns its id
 * @throws DomainError not_found
 */
export async function requireProduct(
  { workspace, product }: { workspace: WorkspaceId; product: string },
  sql: Queries,
): Promise<string> {
  if (isToolsId("prd", product)) {
    if (await anyProduct({ workspace, id: product }, sql)) return product;
    throw productNotFound(product);
  }
  const id = await selectProductIdByName({ workspace, name: product }, sql);
  if (id !== undefined) return id;
  throw new DomainError("not_found", `There is no product "${product}"`, { field: "product" });
}

export function productNotFound(id: string): DomainError {
  return new DomainError("not_found", `There is no product with the id "${id}"`, { field: "product" });
}
