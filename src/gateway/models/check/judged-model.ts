import type { Model } from "../model.ts";
import type { ModelEntry } from "../schema.ts";

/** An entry that the service can use. */
export interface JudgedModel {
  file: string;
  entry: ModelEntry;
  model: Model;
}
