/** What may serve a request: a model with one of its routes. */
import { maximumCost, type PricedRequest } from "../price.ts";
import type { Model, Route } from "../model.ts";
import type { NanoUsd } from "../../../kernel/money.ts";

export interface Candidate {
  readonly model: Model;
  readonly route: Route;
}

/** The facts of a request that decide its cost; the candidate gives the rest. */
export type RequestBounds = Omit<PricedRequest, "model" | "routes">;

export interface CandidateCost {
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
