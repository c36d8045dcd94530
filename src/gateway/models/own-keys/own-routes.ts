/** The routes of a workspace with own provider keys, and which launch checks count for them. */
import { hash } from "node:crypto";
import type { OwnKey } from "../../../accounts/keys/record.ts";
import type { NanoUsd } from "../../../kernel/money.ts";
import { costOf, type Candidate, type RequestBounds } from "../routing/candidate.ts";
import type { Route } from "../model.ts";

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

/** A provider that takes no key has nothing that a workspace could replace. */
function withOwnKey(route: Route, ownKeys: readonly OwnKey[]): Route {
  const { id, keyEnv } = route.provider;
  const ownKey = keyEnv === null ? undefined : ownKeys.find(({ provider }) => provider === id);
  return ownKey === undefined ? route : { ...route, ownKey };
}

/**
 * The facts of a record with those own keys alone that a gateway named, so that a worker that knows of a key before the gateway does
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
 * Without the candidates on credit that may cost more than was reserved: a worker that knows newer own keys than the gateway has reserved
 * for other routes, and perhaps nothing.
 */
export function reservedCandidates(
  candidates: readonly Candidate[],
  { inputTokens, promptTokens, tools, maxTokens, amount }: RequestBounds & { amount: NanoUsd },
): Candidate[] {
  const bounds = { inputTokens, promptTokens, tools, maxTokens };
  return candidates.filter((candidate) => costOf(candidate, bounds).amount <= amount);
}
