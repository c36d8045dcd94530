/**
 * What is shown of a model: its record in GET /models, with OpenAI's four fields and the service's own, and its details in the control API,
 * with every route and its reason; and how providers answer. Availability is for the workspace that asks, and measurements come from the last day's real traffic.
 */
import { Type, type Static } from "@sinclair/typebox";
import { formatPricePerMillion } from "../../kernel/money.ts";
import { type Availability, unavailableMessages } from "./availability.ts";
import { unavailableReasons, type Model, type Prices, type Route, type TieredPrices } from "./model.ts";
import type { Models, WorkspaceRequirements } from "./models.ts";

const Nullable = <Schema extends Parameters<typeof Type.Union>[0][number]>(schema: Schema) => Type.Union([schema, Type.Null()]);

const price = (of: string) => Type.String({ description: `${of}, as a decimal number` });
const PricesShown = Type.Object({
  input: price("Tokens of a request"),
  output: price("Tokens of an answer"),
  cache_read: price("Tokens of a request that the provider read from its cache"),
  cache_write: price("Tokens of a request that the provider wrote to its cache"),
});
const prices = Type.Union([PricesShown, Type.Null()], {
  description: "The provider's list prices, in USD per 1M tokens; null: not priced",
});

/** Not in the specification. */
const addition = { "x-addition": true };
const TierShown = Type.Object({
  above_input_tokens: Type.Integer({
    description: "The bound: tokens of the request as the provider counts them, cached ones included",
  }),
  ...PricesShown.properties,
});
const tiers = Type.Optional(
  Type.Array(TierShown, {
    description:
      "Prices of a whole request that has more tokens than a bound, ascending; absent: the prices above hold for every length",
    ...addition,
  }),
);

/** Measured on this service's real traffic of the last day; null without measurements. */
const measured = {
  latency_ms: Nullable(Type.Number({ description: "Mean time to the first token in the last day, in milliseconds" })),
  uptime_percent: Nullable(
    Type.Number({
      description: "Successful answers in the last day, in percent of the requests that the provider had to answer",
    }),
  ),
};

const RouteShown = Type.Object({
  provider: Type.String({ description: "The provider of this route" }),
  prices_per_1m_usd: prices,
  tiers,
  ...measured,
});
const DimensionsShown = Type.Object(
  {
    default: Type.Integer({ description: "Used if the request has no `dimensions`" }),
    allowed: Type.Union(
      [
        Type.Array(Type.Integer()),
        Type.Object({ min: Type.Integer({ description: "The least" }), max: Type.Integer({ description: "The most" }) }),
        Type.Null(),
      ],
      { description: "What a request may ask for: one of these values, or one of a range; null: nothing" },
    ),
  },
  { description: "The numbers of a vector", ...addition },
);
const reasons = Type.Union(unavailableReasons.map((reason) => Type.Literal(reason)));

export const ModelRecord = Type.Object({
  id: Type.String({ description: "The value of a request's `model`" }),
  object: Type.Literal("model", { description: "The kind of object" }),
  created: Type.Integer({ description: "Day of release in Unix seconds; 0: not known" }),
  owned_by: Type.String({ description: "Its maker: the part of its id before the slash" }),
  name: Type.String({ description: "Its display name", ...addition }),
  provider: Type.String({ description: "Its provider; the first one of several routes" }),
  context_length: Nullable(Type.Integer({ description: "Maximum tokens of request and answer together; null: not announced" })),
  max_output_tokens: Nullable(Type.Integer({ description: "Maximum tokens of an answer; null: not announced", ...addition })),
  prices_per_1m_usd: prices,
  tiers,
  availability: Type.Union([Type.Literal("available"), Type.Literal("request_access"), Type.Literal("coming_soon")], {
    description: "The catalog's listing; `available` once a launch check has passed",
  }),
  runnable: Type.Boolean({ description: "Whether the calling key's workspace can call it now" }),
  unavailable_reason: Type.Union([reasons, Type.Null()], { description: "Why it cannot be called; null: it can be called" }),
  ...measured,
  kind: Type.Optional(Type.Literal("embeddings", { description: "Only of embeddings models, like the next two", ...addition })),
  dimensions: Type.Optional(DimensionsShown),
  max_inputs: Type.Optional(Type.Integer({ description: "Most inputs of one request", ...addition })),
  parameters: Type.Optional(Type.Integer({ description: "Number of weights, shown only for the service's own models" })),
  routes: Type.Optional(Type.Array(RouteShown, { description: "Its routes, if there are several", ...addition })),
});
export type ModelRecord = Static<typeof ModelRecord>;

/** Measurements of a route's real traffic; null: not measured. */
export interface RouteMeasure {
  latencyMs: number | null;
  uptimePercent: number | null;
}

/**
 * @param availability of this model for the calling key's workspace
 * @param measure returns a route's figures; the first route's are shown for the model
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
    ...tiersShown(model.listPrices),
    availability: availability.availability,
    runnable: availability.runnable,
    unavailable_reason: availability.reason,
    latency_ms: shown[0]?.latency_ms ?? null,
    uptime_percent: shown[0]?.uptime_percent ?? null,
    ...embeddingsShown(model),
    ...(model.parameters !== null && { parameters: model.parameters }),
    ...(shown.length > 1 && { routes: shown }),
  };
}

function routeShown(route: Route, measured: RouteMeasure | null): Static<typeof RouteShown> {
  return {
    provider: route.provider.id,
    prices_per_1m_usd: pricesShown(route.prices),
    ...tiersShown(route.prices),
    latency_ms: measured?.latencyMs ?? null,
    uptime_percent: measured?.uptimePercent ?? null,
  };
}

function pricesShown(prices: Prices | null): Static<typeof PricesShown> | null {
  return prices === null ? null : formatPrices(prices);
}

/** Cached, since lists of all models format the same prices repeatedly. */
const formatted = new WeakMap<Prices, Static<typeof PricesShown>>();

function formatPrices(prices: Prices): Static<typeof PricesShown> {
  const present = formatted.get(prices);
  if (present) return present;
  const shown = {
    input: formatPricePerMillion(prices.input),
    output: formatPricePerMillion(prices.output),
    cache_read: formatPricePerMillion(prices.cacheRead),
    cache_write: formatPricePerMillion(prices.cacheWrite),
  };
  formatted.set(prices, shown);
  return shown;
}

function tiersShown(prices: TieredPrices | null): { tiers?: Static<typeof TierShown>[] } {
  if (!prices?.tiers) return {};
  return { tiers: prices.tiers.map((tier) => ({ above_input_tokens: tier.aboveInputTokens, ...formatPrices(tier) })) };
}

function embeddingsShown({ kind, embeddings }: Model): Partial<ModelRecord> {
  if (kind !== "embeddings") return {};
  if (embeddings === undefined) return { kind };
  const { dimensions, allowedDimensions, inputsMax } = embeddings;
  const allowed = allowedDimensions === null || "min" in allowedDimensions ? allowedDimensions : [...allowedDimensions];
  return { kind, dimensions: { default: dimensions, allowed }, max_inputs: inputsMax };
}

// Details, in the control API

const reason = ModelRecord.properties.unavailable_reason;
const sentence = Type.Union([Type.String(), Type.Null()], {
  description: "The reason as a part of a sentence; null: it can be called",
});

const RouteDetails = Type.Composite([
  RouteShown,
  Type.Object({
    provider_name: Type.String({ description: "The provider's display name" }),
    own_key: Type.Boolean({ description: "Whether the workspace's own key pays for it" }),
    check_error: Type.Union([Type.String(), Type.Null()], { description: "The code of its last launch check if that failed" }),
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
  models: Pick<Models, "availability" | "checkOf">;
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
      if (served) return { ...routeShown(served, measure(served)), ...routeFacts(served, models), ...runnable };
      return {
        ...routeShown(route, measure(route)),
        ...routeFacts(route, models),
        ...obstacleOf(model, route, { models, demands }),
      };
    }),
    supports: [...model.supports].toSorted(),
    default_only: [...model.defaultOnly].toSorted(),
  };
}

const runnable = { runnable: true, unavailable_reason: null, unavailable_message: null } as const;

function routeFacts(route: Route, models: Pick<Models, "checkOf">) {
  const { provider, ownKey } = route;
  return {
    provider_name: provider.name,
    own_key: ownKey !== undefined,
    zero_data_retention: (ownKey ?? provider).zeroDataRetention,
    check_error: models.checkOf(route)?.code ?? null,
  };
}

/** Even a route without an obstacle does not serve if the workspace has its own key for another one. */
function obstacleOf(model: Model, route: Route, { models, demands }: Pick<Sources, "models" | "demands">) {
  const { reason: alone } = models.availability({ ...model, routes: [route] }, demands);
  const message = alone === null ? "another route runs on the workspace's own key" : unavailableMessages[alone];
  return { runnable: false, unavailable_reason: alone, unavailable_message: message };
}

// How providers answer

export const ProviderHealth = Type.Object({
  provider: Type.String({ description: "The provider" }),
  models: Type.Integer({ description: "How many of its models had requests in the last day" }),
  uptime_percent: Type.Union([Type.Number(), Type.Null()], {
    description: "Of these models the lowest share of requests that the provider answered, in percent; null: not measured",
  }),
  latency_ms: Type.Union([Type.Number(), Type.Null()], {
    description: "Of these models the longest mean time to the first token, in milliseconds; null: not measured",
  }),
});
export type ProviderHealth = Static<typeof ProviderHealth>;

export type MeasuredRoute = Pick<ProviderHealth, "provider" | "uptime_percent" | "latency_ms">;

/** Providers with requests in the last day, by the worst of their models: a mean would hide one that fails. */
export function healthOfProviders(routes: readonly MeasuredRoute[]): ProviderHealth[] {
  const health = new Map<string, ProviderHealth>();
  for (const { provider, uptime_percent: percent, latency_ms: ms } of routes) {
    if (percent === null) continue;
    const known = health.get(provider) ?? { provider, models: 0, uptime_percent: null, latency_ms: null };
    health.set(provider, {
      provider,
      models: known.models + 1,
      uptime_percent: chosen(Math.min, known.uptime_percent, percent),
      latency_ms: chosen(Math.max, known.latency_ms, ms),
    });
  }
  return [...health.values()].toSorted((one, other) => (one.provider < other.provider ? -1 : 1));
}

/** null is no measurement. */
function chosen(choose: (one: number, other: number) => number, one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : choose(one, other);
}
