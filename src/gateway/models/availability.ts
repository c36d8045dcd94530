/** Whether a model can be called, by which routes, or why not. Listing, admission and prober use this pure function. */
import { passedOwnCheck, servedRoutes, type OwnKeys } from "./own-keys/own-routes.ts";
import type { ListedAs, Model, Route, UnavailableReason } from "./model.ts";

export interface AvailabilityFacts extends OwnKeys {
  /** The service's key for a provider, by the name in its `key_env`. */
  providerKey(name: string): unknown;
  /** The result of each entry's launch check, by `Route.entry`; absent: it has not run. */
  checks: ReadonlyMap<string, { passed: boolean }>;
  /** Whether the workspace allows only providers with zero data retention. */
  zeroDataRetention: boolean;
  /** The features in early access that the workspace has; embeddings models need `embeddings`. */
  earlyAccess: readonly string[];
}

export interface Availability {
  availability: ListedAs;
  runnable: boolean;
  /** null: runnable. */
  reason: UnavailableReason | null;
  /** The routes that may serve, those with own keys first and otherwise in the catalog's order; empty unless runnable. */
  routes: Route[];
}

type Obstacle = Exclude<UnavailableReason, "request_access" | "coming_soon" | "catalog_unreadable">;

/** In the order of the checks. Of several routes the one that passed most checks gives the reason. */
const obstacles: readonly Obstacle[] = [
  "no_price",
  "provider_not_configured",
  "terms_not_checked",
  "launch_check_missing",
  "launch_check_failed",
  "zero_data_retention_required",
];

/**
 * `available` only if the catalog lists the model so and a route has passed its launch check. A workspace's own requirement (zero data
 * retention) can make a model not runnable for that workspace, while it stays available.
 */
export function availabilityOf(model: Model, facts: AvailabilityFacts): Availability {
  const listed = listedAs(model, facts);
  if (listed !== "available") return unavailable(listed, listed);
  const candidates = servedRoutes(model.routes, facts);
  const routes = candidates.filter((route) => obstacleOf(route, facts) === null);
  if (routes.length > 0) return { availability: "available", runnable: true, reason: null, routes };
  const reached = candidates.map((route) => obstacles.indexOf(obstacleOf(route, facts) ?? "no_price"));
  const reason = obstacles[Math.max(0, ...reached)] ?? "no_price";
  return unavailable(reason === "zero_data_retention_required" ? "available" : "coming_soon", reason);
}

/** Embeddings are early access. Kind `none` answers without a model and has no route. */
function listedAs(model: Model, { earlyAccess }: AvailabilityFacts): ListedAs {
  if (model.listedAs !== "available") return model.listedAs;
  if (model.kind === "chat") return "available";
  if (model.kind === "none") return "coming_soon";
  return earlyAccess.includes("embeddings") ? "available" : "request_access";
}

function unavailable(availability: ListedAs, reason: UnavailableReason): Availability {
  return { availability, runnable: false, reason, routes: [] };
}

/**
 * The first obstacle of a route; null: it may serve. The sandbox needs no key, terms or launch check. With an own key the launch check of
 * either key counts, and the workspace's statement about its account in place of the catalog's about the service's.
 */
function obstacleOf(route: Route, facts: AvailabilityFacts): Obstacle | null {
  const { provider, ownKey } = route;
  if (route.prices === null) return "no_price";
  if (provider.format !== "sandbox") {
    if (provider.keyEnv !== null && !ownKey && !facts.providerKey(provider.keyEnv)) return "provider_not_configured";
    if (!provider.termsChecked || !provider.subprocessorListed) return "terms_not_checked";
    const check = facts.checks.get(route.entry);
    if (!check?.passed && !passedOwnCheck(route)) return check === undefined ? "launch_check_missing" : "launch_check_failed";
  }
  return facts.zeroDataRetention && !(ownKey ?? provider).zeroDataRetention ? "zero_data_retention_required" : null;
}
