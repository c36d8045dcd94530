/** Prices a routed request: by the list of its candidates, and by the catalog of this process. */
import type { KeyRecord } from "../../accounts/keys/record.ts";
import { candidateName, costOf, dearestOf, type Candidate, type RequestBounds } from "../models/routing/candidate.ts";
import type { NanoUsd } from "../../kernel/money.ts";
import { servedRoutes, type OwnKeys } from "../models/own-keys/own-routes.ts";
import type { RefusalReason } from "../models/unavailable-message.ts";
import type { CandidateList } from "./message.ts";
import type { ModelsView } from "./models-view.ts";

/** The refusal of a model that is not in the catalog. */
export const modelNotFound = "model_not_found";

export interface RoutedPrice {
  /** The numbers of the candidates that the amount covers. */
  priced: number[];
  /** The candidate that decides the amount, as `<provider id>/<model id>`. */
  dearest: string;
}

interface PricedCandidates {
  amount: NanoUsd;
  /** The largest bound of all candidates. */
  maxOutputTokens: number;
  costOf(maxTokens: number): NanoUsd;
  routed: RoutedPrice;
}

interface PricingContext {
  record: Pick<KeyRecord, "zeroDataRetention" | "earlyAccess"> & OwnKeys;
  models: ModelsView;
  bounds: RequestBounds;
}

type Refusal = RefusalReason | typeof modelNotFound;

/**
 * The maximum over all candidates that may serve the workspace. Candidates that this catalog does not have, or that cannot be used, are
 * left out. @returns the reason of the first model if none is left
 */
export function priceCandidates(list: CandidateList, context: PricingContext): PricedCandidates | Refusal {
  const usable: [number: number, candidate: Candidate][] = [];
  let first = 0;
  let refusal: Refusal | null = null;
  for (const [id, ...providers] of list) {
    const found = usableCandidates({ id, providers }, context);
    if (typeof found === "string") refusal ??= found;
    else for (const candidate of found) usable.push([first + providers.indexOf(candidate.route.provider.id), candidate]);
    first += providers.length;
  }
  usable.sort(([a], [b]) => a - b);
  const candidates = usable.map(([, candidate]) => candidate);
  if (candidates.length === 0) return refusal ?? modelNotFound;
  const { tools, inputTokens, promptTokens, maxTokens } = context.bounds;
  const bounds = { tools, inputTokens, promptTokens, maxTokens };
  const dearest = dearestOf(candidates, bounds);
  return {
    amount: dearest.amount,
    maxOutputTokens: Math.max(...candidates.map((candidate) => costOf(candidate, bounds).maxOutputTokens)),
    costOf: (tokens) => dearestOf(candidates, { ...bounds, maxTokens: tokens }).amount,
    routed: { priced: usable.map(([number]) => number), dearest: candidateName(dearest.candidate) },
  };
}

/** A list without providers is of a model that the gateway cannot use; it gives the reason. */
function usableCandidates(
  { id, providers }: { id: string; providers: readonly string[] },
  { record, models }: PricingContext,
): Candidate[] | Refusal {
  const model = models.find(id);
  if (model === null) return modelNotFound;
  const named = servedRoutes(model.routes, record).filter(({ provider }) => providers.includes(provider.id));
  // The workspace has an own key for another provider of the model, and spends no credit beside it.
  if (named.length === 0 && providers.length > 0 && model.routes.some(({ provider }) => providers.includes(provider.id)))
    return "own_key_elsewhere";
  const { routes, reason } = models.usableRoutes({ ...model, routes: named }, record);
  return reason ?? routes.map((route) => ({ model, route }));
}
