/** A model as GET /models shows it: the official four fields and ours. */
import { Type, type Static } from "@sinclair/typebox";
import { formatPricePerMillion } from "../kernel/money.ts";
import type { Availability } from "./availability.ts";
import type { Model, Prices, Route } from "./model.ts";

const Nullable = <Schema extends Parameters<typeof Type.Union>[0][number]>(schema: Schema) => Type.Union([schema, Type.Null()]);

/** Decimal numbers of USD per 1M tokens, as text. */
const PricesShown = Type.Object({
  input: Type.String(),
  output: Type.String(),
  cache_read: Type.String(),
  cache_write: Type.String(),
});

/** Of the last day, by real traffic through this service; null without measurements. */
const measured = {
  latency_ms: Nullable(Type.Number({ description: "Mean time to the first token in the last day" })),
  uptime_percent: Nullable(Type.Number({ description: "Answers given, of those that the provider owed in the last day" })),
};

const RouteShown = Type.Object({
  provider: Type.String(),
  prices_per_1m_usd: Nullable(PricesShown),
  ...measured,
});

export const ModelRecord = Type.Object({
  id: Type.String(),
  object: Type.Literal("model"),
  created: Type.Integer({ description: "Unix seconds; 0 where the day of release is not known" }),
  owned_by: Type.String(),
  name: Type.String(),
  provider: Type.String({ description: "Who serves it; of several routes the first" }),
  context_length: Nullable(Type.Integer()),
  max_output_tokens: Nullable(Type.Integer()),
  prices_per_1m_usd: Nullable(PricesShown),
  availability: Type.Union([Type.Literal("available"), Type.Literal("request_access"), Type.Literal("coming_soon")]),
  runnable: Type.Boolean(),
  unavailable_reason: Nullable(Type.String()),
  ...measured,
  parameters: Type.Optional(Type.Integer()),
  routes: Type.Optional(Type.Array(RouteShown)),
});
export type ModelRecord = Static<typeof ModelRecord>;

/** What real traffic told of a route; null: nothing was measured. */
export interface RouteMeasure {
  latencyMs: number | null;
  uptimePercent: number | null;
}

/**
 * @param availability of this model for the asking key's workspace
 * @param measure by route; the first route's figures are the model's
 */
export function modelRecord(
  model: Model,
  availability: Availability,
  measure: (route: Route) => RouteMeasure | null,
): ModelRecord {
  const shown = model.routes.map((route) => routeShown(route, measure(route)));
  const owner = model.id.split("/")[0] ?? model.id;
  return {
    id: model.id,
    object: "model",
    created: model.created,
    owned_by: owner,
    name: model.name,
    provider: shown[0]?.provider ?? owner,
    context_length: model.contextLength || null,
    max_output_tokens: model.maxOutputTokens || null,
    prices_per_1m_usd: pricesShown(model.listPrices),
    availability: availability.availability,
    runnable: availability.runnable,
    unavailable_reason: availability.reason,
    latency_ms: shown[0]?.latency_ms ?? null,
    uptime_percent: shown[0]?.uptime_percent ?? null,
    ...(model.parameters !== null && { parameters: model.parameters }),
    ...(shown.length > 1 && { routes: shown }),
  };
}

function routeShown(route: Route, measured: RouteMeasure | null): Static<typeof RouteShown> {
  return {
    provider: route.provider.id,
    prices_per_1m_usd: pricesShown(route.prices),
    latency_ms: measured?.latencyMs ?? null,
    uptime_percent: measured?.uptimePercent ?? null,
  };
}

function pricesShown(prices: Prices | null): Static<typeof PricesShown> | null {
  if (prices === null) return null;
  return {
    input: formatPricePerMillion(prices.input),
    output: formatPricePerMillion(prices.output),
    cache_read: formatPricePerMillion(prices.cacheRead),
    cache_write: formatPricePerMillion(prices.cacheWrite),
  };
}
