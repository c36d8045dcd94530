/**
 * What may serve a request: a model with one of its routes; its maximum cost; and how a workspace's own provider keys change the routes. A
 * provider with an own key is never called with the service's key, not even as a fallback: the workspace chose whose account gets its
 * requests. Its routes come first and cost no credit; other providers of the model serve after them only if the workspace switched that on.
 * A launch check with an own key counts for its owner alone, and the service's counts for both. A worker may know a newer own key than the
 * gateway does, so a request names the keys that the gateway has, and only candidates that the reservation covers are called.
 */
import { hash } from "node:crypto";
import type { OwnKey } from "../../accounts/keys/record.ts";
import type { NanoUsd } from "../../kernel/money.ts";
import type { Model, Route } from "./model.ts";
import { maximumCost, type PricedRequest } from "./price.ts";

export interface Candidate {
  readonly model: Model;
  readonly route: Route;
}

/** The facts of a request that decide its cost; the candidate gives the rest. */
export type RequestBounds = Omit<PricedRequest, "model" | "routes">;

interface CandidateCost {
  candidate: Candidate;
  /** The candidate's maximum cost. */
  amount: NanoUsd;
  /** The bound that must be sent to this candidate's provider. */
  maxOutputTokens: number;
}

/** @throws RangeError when the route has no price */
export function costOf(candidate: Candidate, bounds: RequestBounds): CandidateCost {
  const { amount, maxOutputTokens } = maximumCost({ ...bounds, model: candidate.model, routes: [candidate.route] });
  return { candidate, amount, maxOutputTokens };
}

/**
 * The candidate with the highest maximum cost, the first of equals. Its amount bounds the cost of every candidate.
 * @throws RangeError when there is no candidate or one has no price
 */
export function dearestOf(candidates: readonly Candidate[], bounds: RequestBounds): CandidateCost {
  const [first, ...others] = candidates.map((candidate) => costOf(candidate, bounds));
  if (first === undefined) throw new RangeError("Cannot bound the cost of a request without candidates");
  return others.reduce((dearest, cost) => (cost.amount > dearest.amount ? cost : dearest), first);
}

/** Whether a provider's limit or refusal for one candidate concerns the other one too. */
export function sharesCredential(a: Candidate, b: Candidate): boolean {
  return a.route.provider.id === b.route.provider.id;
}

/** `<provider id>/<model id>`, as in the header X-Route. */
export function candidateName({ model, route }: Candidate): string {
  return `${route.provider.id}/${model.id}`;
}

// Own provider keys

/** A workspace's own keys, and whether models that they serve may also be served on credit. */
export interface OwnKeys {
  ownKeys?: readonly OwnKey[] | null | undefined;
  ownKeyFallback?: boolean | undefined;
}

/**
 * The routes with the workspace's own keys come first. A provider with an own key is never called with the service's key, and other
 * providers serve only if the workspace lets them spend its credit. Without an own key for these routes they stay as they are.
 */
export function servedRoutes(routes: readonly Route[], { ownKeys, ownKeyFallback }: OwnKeys): readonly Route[] {
  if (!ownKeys || ownKeys.length === 0) return routes;
  const keyed = routes.map((route) => withOwnKey(route, ownKeys));
  const own = keyed.filter((route) => route.ownKey !== undefined);
  if (own.length === 0) return routes;
  return ownKeyFallback ? [...own, ...keyed.filter((route) => route.ownKey === undefined)] : own;
}

/**
 * The facts of a record with only the own keys that a gateway named, so that a worker that knows a key before the gateway does still
 * reserves for a call with the service's key.
 * @param named ids; absent: none
 */
export function withNamedKeys<Record extends OwnKeys>(record: Record, named: readonly string[] | undefined): Record {
  if (!record.ownKeys || record.ownKeys.length === 0) return record;
  return { ...record, ownKeys: record.ownKeys.filter(({ id }) => named?.includes(id)) };
}

/** Identifies a launch check that ran with an own key: it counts for the entry that it called and for the owner of the key. */
export function ownCheck({ entry }: Pick<Route, "entry">, { id }: Pick<OwnKey, "id">): string {
  return hash("sha256", JSON.stringify([entry, id]), "hex").slice(0, 12);
}

/** Whether the route passed its launch check with its own key. */
export function passedOwnCheck(route: Route): boolean {
  return route.ownKey?.checks.includes(ownCheck(route, route.ownKey)) ?? false;
}

/**
 * Drops candidates on credit that may cost more than was reserved: a worker that knows newer own keys than the gateway has reserved for
 * other routes, and perhaps nothing.
 */
export function reservedCandidates(
  candidates: readonly Candidate[],
  { inputTokens, promptTokens, tools, maxTokens, amount }: RequestBounds & { amount: NanoUsd },
): Candidate[] {
  const bounds = { inputTokens, promptTokens, tools, maxTokens };
  return candidates.filter((candidate) => costOf(candidate, bounds).amount <= amount);
}

/** A provider that takes no key has nothing that a workspace could replace. */
function withOwnKey(route: Route, ownKeys: readonly OwnKey[]): Route {
  const { id, keyEnv } = route.provider;
  const ownKey = keyEnv === null ? undefined : ownKeys.find(({ provider }) => provider === id);
  return ownKey === undefined ? route : { ...route, ownKey };
}
