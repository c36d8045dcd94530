/**
 * GET /models and GET /models/{id}: the models that the calling key's workspace can call, and with `all=true` also those that it cannot,
 * each with its reason.
 * While there is no catalog both are 503: an empty list would tell clients that their models are gone.
 */
import { Type, type Static } from "@sinclair/typebox";
import { requestTarget } from "../../http/router.ts";
import { isoTime } from "../../kernel/clock.ts";
import { asSent, GatewayError, invalidRequest } from "../../kernel/errors.ts";
import { jsonResponse } from "../../kernel/json.ts";
import type { Caller } from "../admission/message.ts";
import { modelRecord, ModelRecord, type RouteMeasure } from "../models/listing.ts";
import type { Model, Route } from "../models/model.ts";
import type { WorkspaceRequirements, Models } from "../models/models.ts";
import { modelNotFoundMessage, nearestModel } from "../models/availability.ts";
import { authenticateEither } from "./authenticate.ts";
import type { Gateway } from "./gateway.ts";
import { asCaller } from "./refused.ts";
import { catalogId } from "./request/requested-model.ts";

/** Precedes the id in a path. An id may contain it too. */
const modelsPath = "/models/";

/** With `all=true` includes the models that cannot be called. */
export async function listModels(request: Request, gateway: Gateway): Promise<Response> {
  const caller = await authenticateEither(request, gateway);
  const { query } = requestTarget(request);
  return asCaller(caller, () =>
    jsonResponse(modelListBody(listingFor(caller, gateway), { all: query.get("all") === "true", page: readPage(query) })),
  );
}

/** The slash in an id may be escaped or not. */
export async function showModel(request: Request, gateway: Gateway): Promise<Response> {
  const caller = await authenticateEither(request, gateway);
  const { path } = requestTarget(request);
  const escaped = path.slice(path.indexOf(modelsPath) + modelsPath.length);
  return asCaller(caller, () => jsonResponse(modelBody(listingFor(caller, gateway), unescaped(escaped))));
}

export interface Listing {
  models: Pick<Models, "readable" | "list" | "find" | "availability">;
  /** The workspace's requirements for providers. */
  demands: WorkspaceRequirements;
  /** A route's measurements on real traffic; null: none. */
  measure(route: Route): RouteMeasure | null;
}

const addition = { "x-addition": true };
const unknown = () => Type.Null({ description: "Not known", ...addition });
const idOrNull = (description: string) => Type.Union([Type.String(), Type.Null()], { description, ...addition });

/** With the fields of Anthropic's API, so that clients of either find theirs. */
export const ModelForBoth = Type.Composite([
  ModelRecord,
  Type.Object({
    type: Type.Literal("model", { description: "The kind of object", ...addition }),
    display_name: Type.String({ description: "The same as `name`", ...addition }),
    created_at: Type.String({ description: "Day of release in ISO 8601; 1970-01-01: not known", ...addition }),
    max_input_tokens: Type.Union([Type.Integer(), Type.Null()], { description: "Tokens as `context_length`", ...addition }),
    max_tokens: Type.Union([Type.Integer(), Type.Null()], { description: "Tokens as `max_output_tokens`", ...addition }),
    lifecycle: Type.Literal("active", { description: "Every listed model is active", ...addition }),
    capabilities: unknown(),
    line: unknown(),
    deprecated_at: Type.Null({ description: "In ISO 8601; not known", ...addition }),
    retires_at: Type.Null({ description: "In ISO 8601; not known", ...addition }),
  }),
]);
export type ModelForBoth = Static<typeof ModelForBoth>;

export const ModelListBody = Type.Object({
  object: Type.Literal("list", { description: "What this is" }),
  data: Type.Array(ModelForBoth, { description: "The models" }),
  has_more: Type.Boolean({ description: "Whether there are more in the direction of the page", ...addition }),
  first_id: idOrNull("The first id in `data`; null: there is none"),
  last_id: idOrNull("The last id in `data`; null: there is none"),
});
export type ModelListBody = Static<typeof ModelListBody>;

interface Page {
  /** null: all. */
  limit: number | null;
  after: string | null;
  before: string | null;
}

const pageMax = 1_000;

/** @throws GatewayError invalid_request */
export function readPage(query: URLSearchParams): Page {
  const limit = query.get("limit");
  const [after, before] = [query.get("after_id"), query.get("before_id")];
  if (limit !== null && !(/^\d{1,4}$/.test(limit) && Number(limit) >= 1 && Number(limit) <= pageMax))
    throw invalidRequest("limit", `limit must be a whole number from 1 to ${pageMax}`);
  if (after !== null && before !== null) throw invalidRequest("before_id", "before_id and after_id exclude each other");
  return { limit: limit === null ? null : Number(limit), after, before };
}

/**
 * @param asked `all`: includes models that cannot be called, each with its reason
 * @throws GatewayError model_unavailable while there is no catalog: an empty list would be wrong; invalid_request for an unknown id
 */
export function modelListBody(
  { models, demands, measure }: Listing,
  { all, page }: { all: boolean; page?: Page },
): ModelListBody {
  requireCatalog(models);
  const judged = models.list().map((model) => ({ model, availability: models.availability(model, demands) }));
  const listed = all ? judged : judged.filter(({ availability }) => availability.runnable);
  const { shown, hasMore } = pageOf(listed, page);
  return {
    object: "list",
    data: shown.map(({ model, availability }) => listedModel(model, modelRecord(model, availability, measure))),
    has_more: hasMore,
    first_id: shown[0]?.model.id ?? null,
    last_id: shown.at(-1)?.model.id ?? null,
  };
}

function pageOf<Item extends { model: Model }>(
  items: readonly Item[],
  page?: Page,
): { shown: readonly Item[]; hasMore: boolean } {
  if (page === undefined) return { shown: items, hasMore: false };
  const limit = page.limit ?? items.length;
  const from = page.after === null ? 0 : placeOf(items, page.after, "after_id") + 1;
  if (page.before === null) return { shown: items.slice(from, from + limit), hasMore: from + limit < items.length };
  const to = placeOf(items, page.before, "before_id");
  return { shown: items.slice(Math.max(0, to - limit), to), hasMore: to > limit };
}

function placeOf(items: readonly { model: Model }[], id: string, param: string): number {
  const place = items.findIndex(({ model }) => model.id === id);
  if (place === -1) throw invalidRequest(param, `${param}: the list has no such model`);
  return place;
}

/** @throws GatewayError model_not_found; model_unavailable while there is no catalog */
export function modelBody({ models, demands, measure }: Listing, id: string): ModelForBoth {
  requireCatalog(models);
  const model = models.find(catalogId(id, (one) => models.find(one)));
  if (model === null) throw modelNotFound(id, nearestModel(id, models.list()));
  return listedModel(model, modelRecord(model, models.availability(model, demands), measure));
}

function listedModel({ created }: Model, record: ModelRecord): ModelForBoth {
  return {
    ...record,
    type: "model",
    display_name: record.name,
    created_at: isoTime(created * 1_000),
    max_input_tokens: record.context_length,
    max_tokens: record.max_output_tokens,
    lifecycle: "active",
    capabilities: null,
    line: null,
    deprecated_at: null,
    retires_at: null,
  };
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

export function modelNotFound(id: string, nearest: string | null): GatewayError {
  return new GatewayError("model_not_found", { message: modelNotFoundMessage(asSent(id), nearest), param: "model" });
}
