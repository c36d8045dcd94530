/**
 * Whether a model can be called, by which routes, or why not, with the sentence for each reason. Listing, admission and the prober use this
 * pure function, so that a listed reason is the one that a request gets. Of several routes the one that passed most checks gives the
 * reason. An unknown id gets the nearest published one, where it is a name without its maker or a mistyped id.
 */
import { nearest } from "../../kernel/text.ts";
import { passedOwnCheck, servedRoutes, type OwnKeys } from "./candidate.ts";
import type { ListedAs, Model, ProviderRecord, Route, UnavailableReason } from "./model.ts";

export interface AvailabilityFacts extends OwnKeys {
  /** The service's key for a provider. */
  providerKey(provider: ProviderRecord): unknown;
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

/** In the order of the checks. */
const obstacles: readonly Obstacle[] = [
  "no_price",
  "provider_disabled",
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
    if (provider.disabled) return "provider_disabled";
    if (provider.keyEnv !== null && !ownKey && !facts.providerKey(provider)) return "provider_not_configured";
    if (!provider.termsChecked || !provider.subprocessorListed) return "terms_not_checked";
    const check = facts.checks.get(route.entry);
    if (!check?.passed && !passedOwnCheck(route)) return check === undefined ? "launch_check_missing" : "launch_check_failed";
  }
  return facts.zeroDataRetention && !(ownKey ?? provider).zeroDataRetention ? "zero_data_retention_required" : null;
}

// Sentences

export const unavailableMessages: Record<UnavailableReason, string> = {
  request_access: "access to it must be requested",
  coming_soon: "it is coming soon",
  no_price: "it has no price yet",
  provider_disabled: "its provider is disabled",
  provider_not_configured: "its provider is not configured",
  terms_not_checked: "its provider's terms have not been checked",
  launch_check_missing: "its launch check has not run yet",
  launch_check_failed: "it failed its launch check",
  zero_data_retention_required: "the workspace requires zero data retention and no provider of the model offers it",
  catalog_unreadable: "the catalog cannot be read",
};

/** Why a request is refused. The last reason occurs only if a request names providers: the model itself can be called. */
export type RefusalReason = UnavailableReason | "own_key_elsewhere";

const refusalMessages: Record<RefusalReason, string> = {
  ...unavailableMessages,
  own_key_elsewhere:
    "the workspace has an own key for another provider of it than the request allows, and own_key_fallback is off",
};

export function isRefusalReason(text: string): text is RefusalReason {
  return Object.hasOwn(refusalMessages, text);
}

/** The message of a `model_unavailable` error. */
export function unavailableMessage(model: string, reason: RefusalReason): string {
  return `The model ${model} cannot be called at present: ${refusalMessages[reason]}`;
}

// The model that a client probably meant by an unknown id

/** Longer ids get no suggestion: no model of the catalog has one. */
const idLengthMax = 200;
/** More edits make another name, not a typing error. */
const editsMax = 3;
/** One edit for this many letters, since every short name is near another. */
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
