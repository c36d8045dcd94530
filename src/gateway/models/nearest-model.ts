/** The model that a client probably meant by an unknown id: a name without its maker, or a mistyped id. */
import { nearest } from "../../kernel/nearest.ts";
import type { Model } from "./model.ts";

/** Longer ids get no suggestion: no model of the catalog has one. */
const idLengthMax = 200;
/** More edits make another name, not a typing error. */
const editsMax = 3;
/** One edit for so many letters, since every short name is near another. */
const lettersOfAnEdit = 4;

/** @returns a published model's id; null: none is near enough */
export function nearestModel(id: string, models: Iterable<Pick<Model, "id" | "published">>): string | null {
  if (id.length === 0 || id.length > idLengthMax) return null;
  const idsByName = new Map<string, string>();
  for (const model of models) {
    const name = id.includes("/") ? model.id : model.id.slice(model.id.indexOf("/") + 1);
    if (model.published && !idsByName.has(name)) idsByName.set(name, model.id);
  }
  const edits = Math.min(editsMax, Math.floor(id.length / lettersOfAnEdit));
  const name = nearest(id, [...idsByName.keys()], edits);
  return name === undefined ? null : (idsByName.get(name) ?? null);
}

/** The message of `model_not_found`; it ends with the requested id. */
export function modelNotFoundMessage(id: string, suggestion: string | null): string {
  const message = `There is no model with the id ${id}`;
  return suggestion === null ? message : `Did you mean ${suggestion}? ${message}`;
}
