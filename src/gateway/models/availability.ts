/** Whether a model can be called, by which routes, and why not. One pure function for listing, admission and prober. */
import type { ListedAs, Model, Route, UnavailableReason } from "./model.ts";

export interface AvailabilityFacts {
  /** Our key for a provider, by the name in its `key_env`. */
  providerKey(name: string): unknown;
  /** By `Route.entry`: how the launch check of that entry ended; absent: it has not run. */
  checks: ReadonlyMap<string, { passed: boolean }>;
  /** The workspace lets only providers serve that keep nothing. */
  zeroDataRetention: boolean;
}

export interface Availability {
  availability: ListedAs;
  runnable: boolean;
  /** null: runnable. */
  reason: UnavailableReason | null;
  /** Those that may serve, in the catalog's order; empty unless runnable. */
  routes: Route[];
}

type Obstacle = Exclude<UnavailableReason, "request_access" | "coming_soon" | "catalog_unreadable">;

/** In the order in which they are looked at; of several routes the one that came furthest tells the reason. */
const obstacles: readonly Obstacle[] = [
  "no_price",
  "provider_not_configured",
  "terms_not_checked",
  "launch_check_missing",
  "launch_check_failed",
  "zero_data_retention_required",
];

/**
 * `available` only where the catalog lists it so and a route has passed every launch check; what one workspace demands
 * (zero data retention) makes a model not runnable for it and leaves it available.
 */
export function availabilityOf(model: Model, facts: AvailabilityFacts): Availability {
  const listed = listedAs(model);
  if (listed !== "available") return unavailable(listed, listed);
  const routes = model.routes.filter((route) => obstacleOf(route, facts) === null);
  if (routes.length > 0) return { availability: "available", runnable: true, reason: null, routes };
  const reached = model.routes.map((route) => obstacles.indexOf(obstacleOf(route, facts) ?? "no_price"));
  const reason = obstacles[Math.max(0, ...reached)] ?? "no_price";
  return unavailable(reason === "zero_data_retention_required" ? "available" : "coming_soon", reason);
}

/** Embeddings are early access, and nothing serves them yet; a model that answers without a model serves nothing at all. */
function listedAs(model: Model): ListedAs {
  if (model.listedAs !== "available") return model.listedAs;
  if (model.kind === "chat") return "available";
  return model.kind === "embeddings" ? "request_access" : "coming_soon";
}

function unavailable(availability: ListedAs, reason: UnavailableReason): Availability {
  return { availability, runnable: false, reason, routes: [] };
}

/** The first thing that keeps a route from serving; null: nothing. The sandbox has no key, no terms and nothing to check. */
function obstacleOf(route: Route, facts: AvailabilityFacts): Obstacle | null {
  const { provider } = route;
  if (route.prices === null) return "no_price";
  if (provider.format !== "sandbox") {
    if (provider.keyEnv !== null && !facts.providerKey(provider.keyEnv)) return "provider_not_configured";
    if (!provider.termsChecked || !provider.subprocessorListed) return "terms_not_checked";
    const check = facts.checks.get(route.entry);
    if (check === undefined) return "launch_check_missing";
    if (!check.passed) return "launch_check_failed";
  }
  return facts.zeroDataRetention && !provider.zeroDataRetention ? "zero_data_retention_required" : null;
}
