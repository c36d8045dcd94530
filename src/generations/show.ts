import type { Queries } from "../backing/backing.ts";
import type { GenerationId } from "../kernel/ids.ts";
import { ControlError } from "../workspaces/control-error.ts";
import { selectGeneration, type GenerationRow } from "./store.ts";

/** @throws ControlError not_found: no such generation, or it has not ended */
export async function findGeneration(id: GenerationId, sql: Queries): Promise<GenerationRow> {
  const row = await selectGeneration(id, sql);
  if (!row) throw new ControlError("not_found", { field: "id", message: `There is no ended generation with the id "${id}"` });
  return row;
}
