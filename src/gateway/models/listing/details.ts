/** A model in the control API: its listing for a workspace, all of its routes with the reason of each, and what its requests may contain. */
import { Type, type Static } from "@sinclair/typebox";
import { modelRecord, ModelRecord, RouteShown, routeShown, type RouteMeasure } from "../listing.ts";
import type { Model, Route } from "../model.ts";
import type { Models, WorkspaceRequirements } from "../models.ts";
import { unavailableMessages } from "../unavailable-message.ts";

const reason = ModelRecord.properties.unavailable_reason;
const sentence = Type.Union([Type.String(), Type.Null()], {
  description: "The reason as a part of a sentence; null: it can be called",
});

const RouteDetails = Type.Composite([
  RouteShown,
  Type.Object({
    provider_name: Type.String({ description: "The provider's display name" }),
    own_key: Type.Boolean({ description: "Whether the workspace's own key pays for it" }),
    zero_data_retention: Type.Boolean({ description: "Whether the provider keeps nothing of a request" }),
    runnable: Type.Boolean({ description: "Whether it may serve the workspace now" }),
    unavailable_reason: reason,
    unavailable_message: sentence,
  }),
]);

export const ModelDetails = Type.Composite([
  Type.Omit(ModelRecord, ["routes"]),
  Type.Object({
    unavailable_message: sentence,
    routes: Type.Array(RouteDetails, { description: "All of its routes, in order of preference" }),
    supports: Type.Array(Type.String(), {
      description: "Words that open fields of a request; docs/reference/inference.md explains them",
    }),
    default_only: Type.Array(Type.String(), { description: "Fields of a request that it takes only with their default" }),
  }),
]);
export type ModelDetails = Static<typeof ModelDetails>;
export type RouteDetails = Static<typeof RouteDetails>;

interface Sources {
  models: Pick<Models, "availability">;
  /** The workspace's settings and own keys. */
  demands: WorkspaceRequirements;
  measure(route: Route): RouteMeasure | null;
}

export function modelDetails(model: Model, { models, demands, measure }: Sources): ModelDetails {
  const availability = models.availability(model, demands);
  const { routes: _several, ...record } = modelRecord(model, availability, measure);
  const serving = new Map(availability.routes.map((route) => [route.entry, route]));
  return {
    ...record,
    unavailable_message: availability.reason && unavailableMessages[availability.reason],
    routes: model.routes.map((route) => {
      const served = serving.get(route.entry);
      if (served) return { ...routeShown(served, measure(served)), ...routeFacts(served), ...runnable };
      return { ...routeShown(route, measure(route)), ...routeFacts(route), ...obstacleOf(model, route, { models, demands }) };
    }),
    supports: [...model.supports].toSorted(),
    default_only: [...model.defaultOnly].toSorted(),
  };
}

const runnable = { runnable: true, unavailable_reason: null, unavailable_message: null } as const;

function routeFacts({ provider, ownKey }: Route) {
  return {
    provider_name: provider.name,
    own_key: ownKey !== undefined,
    zero_data_retention: (ownKey ?? provider).zeroDataRetention,
  };
}

/** A route without an obstacle of its own does not serve where the workspace has its own key for another one. */
function obstacleOf(model: Model, route: Route, { models, demands }: Pick<Sources, "models" | "demands">) {
  const { reason: alone } = models.availability({ ...model, routes: [route] }, demands);
  const message = alone === null ? "another route runs on the workspace's own key" : unavailableMessages[alone];
  return { runnable: false, unavailable_reason: alone, unavailable_message: message };
}
