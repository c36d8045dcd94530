import type { Transaction } from "../../backing/backing.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { productsPerWorkspaceMax } from "../limits.ts";
import { quotaFull } from "../../accounts/quotas/full.ts";
import { lockQuota } from "../../accounts/quotas/store.ts";
import { countAllProducts } from "./store.ts";

/** After a new one's row is written, last in its transaction, for others wait meanwhile. @throws DomainError conflict */
export async function requireProductQuota(workspace: WorkspaceId, tx: Transaction): Promise<void> {
  await lockQuota({ workspace, counted: "products" }, tx);
  if ((await countAllProducts(workspace, tx)) <= productsPerWorkspaceMax) return;
  throw quotaFull({ what: "products", max: productsPerWorkspaceMax, limit: "productsPerWorkspaceMax" }, "product");
}
