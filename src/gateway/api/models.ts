/**
 * GET /models and GET /models/{id}: the models that the calling key's workspace can call, and with `all=true` also those that it cannot,
 * each with its reason.
 * While there is no catalog both are 503: an empty list would tell clients that their models are gone.
 */
import { Type, type Static } from "@sinclair/typebox";
import { requestTarget } from "../../http/router.ts";
import { GatewayError } from "../../kernel/errors.ts";
import { jsonResponse } from "../../kernel/json.ts";
import type { Caller } from "../admission/message.ts";
import { modelRecord, ModelRecord, type RouteMeasure } from "../models/listing.ts";
import type { Route } from "../models/model.ts";
import type { WorkspaceRequirements, Models } from "../models/models.ts";
import { modelNotFoundMessage, nearestModel } from "../models/availability.ts";
import { authenticate } from "./authenticate.ts";
import type { Gateway } from "./gateway.ts";

/** Precedes the id in a path. An id may contain it too. */
const modelsPath = "/models/";

/** With `all=true` includes the models that cannot be called. */
export async function listModels(request: Request, gateway: Gateway): Promise<Response> {
  const caller = await authenticate(request, gateway);
  const all = requestTarget(request).query.get("all") === "true";
  return jsonResponse(modelListBody(listingFor(caller, gateway), all));
}

/** The slash in an id may be escaped or not. */
export async function showModel(request: Request, gateway: Gateway): Promise<Response> {
  const caller = await authenticate(request, gateway);
  const { path } = requestTarget(request);
  const escaped = path.slice(path.indexOf(modelsPath) + modelsPath.length);
  return jsonResponse(modelBody(listingFor(caller, gateway), unescaped(escaped)));
}

export interface Listing {
  models: Pick<Models, "readable" | "list" | "find" | "availability">;
  /** The workspace's requirements for providers. */
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

function listingFor({ record }: Caller, { models, health }: Gateway): Listing {
  return { models, demands: record, measure: (route) => health.measure(route) };
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function requireCatalog(models: Pick<Models, "readable">): void {
  if (!models.readable())
    throw new GatewayError("model_unavailable", {
      message: "The model catalog cannot be read at present",
      shouldRetry: true,
    });
}

function modelNotFound(id: string, nearest: string | null): GatewayError {
  return new GatewayError("model_not_found", { message: modelNotFoundMessage(id, nearest), param: "model" });
}
