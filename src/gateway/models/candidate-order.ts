/**
 * The order in which candidates may serve a request, by the caller's rules: model by model, the providers of `order` first, then those with
 * an own key, then the others, each by `sort`; equals keep the catalog's order. It is pure: catalog and measurements come as arguments.
 */
import type { NanoUsd } from "../../kernel/money.ts";
import type { Candidate } from "./candidate.ts";
import type { RouteMeasure } from "./listing.ts";
import type { Model, Route } from "./model.ts";

export const routeSorts = ["price", "latency", "uptime"] as const;
export type RouteSort = (typeof routeSorts)[number];

/** The fields of a request's `provider`. Providers are given by their ids. */
export interface RoutingRules {
  order: readonly string[];
  /** null: every provider may serve. */
  only: ReadonlySet<string> | null;
  ignore: ReadonlySet<string>;
  /** null: the catalog's order. */
  sort: RouteSort | null;
}

interface SortFacts {
  /** The request's own maximum cost. */
  maximumCost(candidate: Candidate): NanoUsd;
  /** The figures that GET /models shows; null: not measured. */
  measure(route: Route): RouteMeasure | null;
}

/** A model with the routes that may serve, in the catalog's order. */
export interface ModelRoutes {
  model: Model;
  routes: readonly Route[];
}

/** Whether the rules let this route serve. `ignore` wins over `only`. */
export function isPermitted({ provider }: Route, { only, ignore }: RoutingRules): boolean {
  return !ignore.has(provider.id) && (only === null || only.has(provider.id));
}

/**
 * The permitted candidates, model by model. Within a model: the providers of `order` first, then those with an own key, then the others,
 * each by `sort`; equals keep the catalog's order.
 */
export function orderCandidates(models: readonly ModelRoutes[], rules: RoutingRules, facts: SortFacts): Candidate[] {
  // The first mention of a provider counts.
  const places = new Map(rules.order.map((provider, index) => [provider, index] as const).toReversed());
  return models.flatMap(({ model, routes }) =>
    routes
      .filter((route) => isPermitted(route, rules))
      .map((route) => {
        const candidate = { model, route };
        const place = places.get(route.provider.id) ?? Infinity;
        const key = place === Infinity ? sortKey(candidate, rules.sort, facts) : 0;
        return { candidate, place, onCredit: route.ownKey ? 0 : 1, key };
      })
      .toSorted((a, b) => compare(a.place, b.place) || compare(a.onCredit, b.onCredit) || compare(a.key, b.key))
      .map(({ candidate }) => candidate),
  );
}

/** The less, the earlier. */
function sortKey(candidate: Candidate, sort: RouteSort | null, { maximumCost, measure }: SortFacts): bigint | number {
  switch (sort) {
    case null:
      return 0;
    case "price":
      return maximumCost(candidate);
    case "latency":
      return measure(candidate.route)?.latencyMs ?? Infinity;
    case "uptime":
      return -(measure(candidate.route)?.uptimePercent ?? -Infinity);
  }
}

function compare(a: bigint | number, b: bigint | number): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
