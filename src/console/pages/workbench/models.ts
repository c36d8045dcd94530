/** The models that the Workbench offers. */
import type { ModelRecord } from "../../../gateway/models/listing.ts";

export interface ChoosableModels {
  /** Ids, in the order of the catalog. */
  callable: string[];
  /** Chat models that the workspace cannot call now; their pages say why. */
  others: string[];
}

export function choosableModels(models: readonly ModelRecord[]): ChoosableModels {
  const chats = models.filter(({ kind }) => kind !== "embeddings");
  const idsOf = (runnable: boolean): string[] => chats.filter((model) => model.runnable === runnable).map(({ id }) => id);
  return { callable: idsOf(true), others: idsOf(false) };
}
