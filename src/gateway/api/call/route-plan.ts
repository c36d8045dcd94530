/**
 * Which candidates may serve a request, in which order. A routed request is planned before admission, which prices the candidates by their
 * numbers in the list, and called after it: admission says which of them the reservation covers. Other requests have no plan, and the
 * routes of their one model serve.
 * Own provider keys come first, then the client's rules: a rule cannot spend credit that the workspace does not let a model spend. The plan
 * is cut to what fits into the message to admission.
 */
import type { Caller, RequestFacts, CandidateList } from "../../admission/message.ts";
import { routingCandidatesBytesMax, routingCandidatesMax } from "../../limits.ts";
import { costOf, type Candidate, reservedCandidates, servedRoutes } from "../../models/candidate.ts";
import type { RouteCoolDown } from "../../models/route-health.ts";
import type { RouteMeasure } from "../../models/listing.ts";
import type { Route } from "../../models/model.ts";
import type { Models } from "../../models/models.ts";
import { isPermitted, orderCandidates, type ModelRoutes } from "../../models/candidate-order.ts";
import type { ChatBody } from "../../providers/provider.ts";
import type { Reservation } from "../../credit/reservation.ts";
import type { NanoUsd } from "../../../kernel/money.ts";
import type { CheckedChat, CheckedRouting } from "../request/chat-request.ts";

export interface RoutePlan {
  /** The usable candidates in their order, numbered as in `list`; none: admission says why. */
  candidates: readonly Candidate[];
  list: CandidateList;
  /** A model of the request that the catalog does not have: admission refuses it. */
  unknown?: { id: string; field: string };
}

type PlanModels = Pick<Models, "readable" | "find" | "usableRoutes">;

interface PlanContext {
  caller: Pick<Caller, "record">;
  models: PlanModels;
  measure(route: Route): RouteMeasure | null;
}

export type Candidates = readonly [Candidate, ...Candidate[]];

/** @returns null: the request has no routing fields, or the catalog cannot be read, which admission refuses */
export function planRoute(chat: CheckedChat, { caller, models, measure }: PlanContext): RoutePlan | null {
  const { routing } = chat;
  if (routing === undefined || !models.readable()) return null;
  const unknown = routing.models.find(({ id }) => models.find(id) === null);
  if (unknown) return { candidates: [], list: [], unknown };
  const known = permittedModels(routing, models);
  const usable = known.map(({ model }) => {
    // Own keys decide before the request's rules do, since a rule cannot spend credit that the workspace does not let a model spend.
    const routes = servedRoutes(model.routes, caller.record).filter((route) => isPermitted(route, routing.rules));
    return { model, routes: models.usableRoutes({ ...model, routes }, caller.record).routes };
  });
  const maximumCost = (candidate: Candidate): bigint => costOf(candidate, chat).amount;
  const ordered = orderCandidates(usable, routing.rules, { maximumCost, measure }).slice(0, routingCandidatesMax);
  if (ordered.length > 0) return fitting(ordered);
  // Admission may know more recent routes, and otherwise gives the reason.
  const first = known[0];
  const providers = (first?.routes ?? []).slice(0, routingCandidatesMax).map(({ provider }) => provider.id);
  return { candidates: [], list: first ? [[first.model.id, ...providers]] : [] };
}

/** The parts of a request that admission needs. */
export function admissionFacts(chat: CheckedChat, plan: RoutePlan | null): RequestFacts {
  if (plan === null) return chat;
  const { inputTokens, promptTokens, maxTokens, tools } = chat;
  const bounds = { inputTokens, maxTokens, tools, ...(promptTokens !== undefined && { promptTokens }) };
  if (plan.unknown) return { ...bounds, model: plan.unknown.id, field: plan.unknown.field };
  return { ...bounds, model: chat.model, candidates: plan.list };
}

interface AdmittedRequest {
  chat: CheckedChat;
  caller: Pick<Caller, "record">;
  plan: RoutePlan | null;
  /** The numbers of the plan's candidates that the reservation covers; null: there is no plan, and it covers every route of the model. */
  priced: readonly number[] | null;
  /** What was reserved. */
  amount: NanoUsd;
}

/** The candidates that the reservation covers; null: there is none, since the catalog has changed meanwhile. */
export function admittedCandidates(
  { chat, caller, plan, priced, amount }: AdmittedRequest,
  { models, coolDown }: { models: Pick<Models, "find" | "usableRoutes">; coolDown: RouteCoolDown },
): Candidates | null {
  const covered = plan?.candidates.filter((_, number) => priced?.includes(number)) ?? candidatesOf(chat.model);
  const [first, ...others] = coolDown.preferred(
    caller.record.ownKeys ? reservedCandidates(covered, { ...chat, amount }) : covered,
  );
  return first === undefined ? null : [first, ...others];

  function candidatesOf(id: string): Candidate[] {
    const model = models.find(id);
    return model === null ? [] : models.usableRoutes(model, caller.record).routes.map((route) => ({ model, route }));
  }
}

/**
 * What is sent for a candidate: the body for its model, and an output bound that neither the model nor the reservation exceeds.
 * @throws RangeError when the route has no price
 */
export function candidateRequest(
  candidate: Candidate,
  { chat, reservation }: { chat: CheckedChat; reservation: Pick<Reservation, "maxOutputTokens"> },
): { chat: ChatBody; maxOutputTokens: number } {
  const { maxOutputTokens } = reservation;
  if (chat.routing === undefined) return { chat: chat.body, maxOutputTokens };
  return {
    chat: chat.routing.bodies.get(candidate.model.id) ?? chat.body,
    maxOutputTokens: Math.min(maxOutputTokens, costOf(candidate, chat).maxOutputTokens),
  };
}

/** The models that have a permitted route, or no route at all, with their permitted routes. */
function permittedModels({ models, rules }: CheckedRouting, { find }: PlanModels): ModelRoutes[] {
  return models.flatMap(({ id }) => {
    const model = find(id);
    if (model === null) return [];
    const routes = model.routes.filter((route) => isPermitted(route, rules));
    return routes.length === 0 && model.routes.length > 0 ? [] : { model, routes };
  });
}

/** As many candidates as the message to admission has room for, and their names. The candidates are ordered by model. */
function fitting(ordered: readonly Candidate[]): RoutePlan {
  const list: [string, ...string[]][] = [];
  const candidates: Candidate[] = [];
  for (const candidate of ordered) {
    const { model, route } = candidate;
    const last = list.at(-1);
    if (last?.[0] === model.id) last.push(route.provider.id);
    else list.push([model.id, route.provider.id]);
    if (candidates.length > 0 && JSON.stringify(list).length > routingCandidatesBytesMax) {
      list.at(-1)?.pop();
      break;
    }
    candidates.push(candidate);
  }
  return { candidates, list: list.filter(({ length }) => length > 1) };
}
