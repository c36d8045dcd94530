/** The bodies of GET /models and GET /models/{id}: the models that the calling key's workspace can or could call. */
import { Type, type Static } from "@sinclair/typebox";
import { GatewayError } from "../../kernel/errors.ts";
import { modelRecord, ModelRecord, type RouteMeasure } from "../models/listing.ts";
import type { Route } from "../models/model.ts";
import { modelNotFoundMessage, nearestModel } from "../models/nearest-model.ts";
import type { WorkspaceRequirements, Models } from "../models/models.ts";

export interface Listing {
  models: Pick<Models, "readable" | "list" | "find" | "availability">;
  /** The workspace's demands on providers. */
  demands: WorkspaceRequirements;
  /** A route's measurements on real traffic; null: none. */
  measure(route: Route): RouteMeasure | null;
}

export const ModelListBody = Type.Object({
  object: Type.Literal("list", { description: "What this is" }),
  data: Type.Array(ModelRecord, { description: "The models" }),
});
export type ModelListBody = Static<typeof ModelListBody>;

/**
 * @param all includes models that cannot be called, each with its reason
 * @throws GatewayError model_unavailable while there is no catalog: an empty list would be wrong
 */
export function modelListBody({ models, demands, measure }: Listing, all: boolean): ModelListBody {
  requireCatalog(models);
  const judged = models.list().map((model) => ({ model, availability: models.availability(model, demands) }));
  const listed = all ? judged : judged.filter(({ availability }) => availability.runnable);
  return { object: "list", data: listed.map(({ model, availability }) => modelRecord(model, availability, measure)) };
}

/** @throws GatewayError model_not_found; model_unavailable while there is no catalog */
export function modelBody({ models, demands, measure }: Listing, id: string): ModelRecord {
  requireCatalog(models);
  const model = models.find(id);
  if (model === null) throw modelNotFound(id, nearestModel(id, models.list()));
  return modelRecord(model, models.availability(model, demands), measure);
}

function modelNotFound(id: string, nearest: string | null): GatewayError {
  return new GatewayError("model_not_found", { message: modelNotFoundMessage(id, nearest), param: "model" });
}

function requireCatalog(models: Pick<Models, "readable">): void {
  if (!models.readable())
    throw new GatewayError("model_unavailable", {
      message: "The model catalog cannot be read at present",
      shouldRetry: true,
    });
}
