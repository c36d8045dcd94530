/**
 * One admission: from the gateway's request to the counters' request, and from their reply to the gateway's reply. It is pure: workers and
 * gateways with a block run the same code, and the simulation runs it too. The key, the model and the price are decided here, by the
 * catalog of this process. Window, credit, months and budgets are decided by the counters in one atomic step, by the maximum cost that
 * `price` gives. Of a routed request that is the maximum over all candidates that may serve, so each of them is covered. Messages say what
 * would have fit.
 */
import type { KeyRecord } from "../../accounts/keys/record.ts";
import { requestsPerMinuteDefault } from "../../accounts/limits.ts";
import type { AdmitReply, AdmitRequest, RateWindow } from "../../backing/counters.ts";
import { callerWord, isMemberCaller } from "../../kernel/ids.ts";
import { formatUsd, type NanoUsd } from "../../kernel/money.ts";
import { budgetsOf, budgetWords } from "../credit/budgets.ts";
import { idempotencyRetryMs } from "../limits.ts";
import type { Model, Route, UnavailableReason } from "../models/model.ts";
import { modelNotFoundMessage, isRefusalReason, type RefusalReason } from "../models/availability.ts";
import {
  withNamedKeys,
  type OwnKeys,
  servedRoutes,
  candidateName,
  costOf,
  dearestOf,
  type Candidate,
  type RequestBounds,
} from "../models/candidate.ts";
import { maximumCost } from "../models/price.ts";
import type { AdmitGeneration, AdmissionReply, Refused, WindowOnBus, CandidateList } from "./message.ts";

/** A request that is ready for the counters. */
export interface Prepared {
  request: AdmitRequest;
  record: KeyRecord;
  maxOutputTokens: number;
  /** The maximum cost of this request with this many output tokens; null: the model cannot be priced. */
  costOf: ((maxTokens: number) => NanoUsd) | null;
  /** Absent: the request is not routed. */
  routed?: RoutedPrice;
  /** The id that an unknown model's refusal names; looked up only when that refusal is sent. */
  nearestModel: () => string | null;
}

/** Checks the key and prices the request; the counters check limits and credit. @throws RangeError when a route has no price */
export function prepare(admit: AdmitGeneration, record: KeyRecord | null, models: ModelsView): Prepared | Refused {
  if (record === null) return { kind: "refused", code: "invalid_api_key" };
  if (!record.enabled) return { kind: "refused", code: "gateway_disabled" };
  const priced = price(admit, record, models);
  const budgets = budgetsOf(record);
  return {
    record,
    maxOutputTokens: priced.maxOutputTokens,
    costOf: priced.costOf,
    ...(priced.routed && { routed: priced.routed }),
    nearestModel: () => models.nearest?.(refusedModel(admit)) ?? null,
    request: {
      generation: admit.generation,
      workspace: record.workspace,
      key: record.id,
      fingerprint: admit.fingerprint,
      requestsPerMinute: record.requestsPerMinute ?? requestsPerMinuteDefault,
      amount: priced.amount,
      keyLimit: record.monthlyLimit,
      workspaceLimit: record.workspaceLimit,
      ...(budgets && { budgets }),
      ...(admit.claim && { claim: admit.claim.id }),
      modelRefusal: priced.refusal,
      deadline: admit.deadline,
    },
  };
}

type PricedRecord = Pick<KeyRecord, "zeroDataRetention" | "earlyAccess"> & OwnKeys;

export interface Priced extends Pick<Prepared, "maxOutputTokens" | "costOf" | "routed"> {
  amount: NanoUsd;
  /** Why the model cannot be called; null: it can. */
  refusal: string | null;
}

/**
 * The maximum cost of a request, by the catalog of this process; both a worker and a gateway with a block price by it.
 * @throws RangeError when a route has no price
 */
export function price(
  admit: Pick<AdmitGeneration, "model" | "inputTokens" | "promptTokens" | "maxTokens" | "tools" | "candidates" | "ownKeys">,
  record: PricedRecord,
  models: ModelsView,
): Priced {
  const refused = (refusal: string): Priced => ({ amount: 0n, maxOutputTokens: 0, refusal, costOf: null });
  if (!models.readable()) return refused("catalog_unreadable");
  const keyed = withNamedKeys(record, admit.ownKeys);
  if (admit.candidates !== undefined) {
    const priced = priceCandidates(admit.candidates, { record: keyed, models, bounds: admit });
    return typeof priced === "string" ? refused(priced) : { ...priced, refusal: null };
  }
  const model = models.find(admit.model);
  if (model === null) return refused(modelNotFound);
  const { routes, reason } = models.usableRoutes(model, keyed);
  if (reason !== null) return refused(reason);
  const { inputTokens, promptTokens, tools } = admit;
  const bounds = { model, routes, inputTokens, promptTokens, tools };
  const { amount, maxOutputTokens } = maximumCost({ ...bounds, maxTokens: admit.maxTokens });
  return { amount, maxOutputTokens, refusal: null, costOf: (maxTokens) => maximumCost({ ...bounds, maxTokens }).amount };
}

/** The gateway's reply to a decided request. The caller acts on `not_ready` and `wrong_month`. */
export function replyFor(prepared: Prepared, admit: AdmitGeneration, reply: AdmitReply): AdmissionReply {
  const { request } = prepared;
  switch (reply.outcome) {
    case "admitted":
      // A worker with lower prices admitted it earlier: that hold would not bound the cost of this request.
      if (reply.amount < request.amount) return { kind: "refused", code: "billing_unavailable" };
      return {
        kind: "admitted",
        at: reply.at,
        month: reply.month,
        amount: reply.amount.toString(),
        maxOutputTokens: prepared.maxOutputTokens,
        ...(prepared.routed && { priced: prepared.routed.priced }),
        window: windowOf(request, reply.window),
      };
    case "rate_limited":
      return {
        kind: "refused",
        code: "rate_limited",
        message: `Too many requests for this ${callerWord(request.key)}: it may make ${request.requestsPerMinute} requests per minute`,
        retryAfterMs: reply.retryAfterMs,
        window: windowOf(request, reply.window),
      };
    case "model_refused":
      return modelRefused(admit, reply.reason, { nearest: prepared.nearestModel, window: windowOf(request, reply.window) });
    case "insufficient_credit":
      return {
        kind: "refused",
        code: "insufficient_credit",
        message: `${creditMessage(prepared, reply.available)}; add credit or ${prepared.maxOutputTokens === 0 ? "send less" : "lower max_tokens"}`,
        window: windowOf(request, reply.window),
      };
    case "key_spend_limit_exceeded":
    case "account_spend_limit_exceeded":
      return {
        kind: "refused",
        code: reply.outcome,
        message: limitMessage(prepared, reply),
        window: windowOf(request, reply.window),
      };
    case "late":
    case "already_resolved":
      return { kind: "refused", code: "billing_unavailable", message: "The request could not be admitted in time" };
    case "claimed":
      return { kind: "refused", code: "idempotency_in_progress", retryAfterMs: idempotencyRetryMs };
    case "conflict":
      return { kind: "refused", code: "internal_error" };
    case "unreachable":
      return { kind: "refused", code: "billing_unavailable" };
    case "not_ready":
    case "wrong_month":
      return { kind: "again" };
  }
}

function windowOf(request: AdmitRequest, window: RateWindow): WindowOnBus {
  return { limit: request.requestsPerMinute, remaining: window.remaining, resetMs: window.resetMs };
}

function modelRefused(
  admit: AdmitGeneration,
  reason: string,
  { nearest, window }: { nearest: () => string | null; window: WindowOnBus },
): Refused {
  if (reason === modelNotFound) {
    return {
      kind: "refused",
      code: "model_not_found",
      param: "model",
      message: modelNotFoundMessage(refusedModel(admit), nearest()),
      window,
    };
  }
  return { kind: "refused", code: "model_unavailable", param: "model", reason: unavailableReason(reason), window };
}

/** The model that a refusal names: for a routed request, the first candidate's. */
function refusedModel({ model, candidates }: AdmitGeneration): string {
  return candidates?.[0]?.[0] ?? model;
}

/** The counters return the text that they received: one of the reasons above. */
function unavailableReason(text: string): RefusalReason {
  return isRefusalReason(text) ? text : "catalog_unreadable";
}

function creditMessage(prepared: Prepared, available: NanoUsd): string {
  const needed = formatUsd(prepared.request.amount);
  const cost = `may cost up to ${needed} USD${byMostExpensive(prepared)}`;
  const rest = `There is not enough credit: this request ${cost} and ${formatUsd(available)} USD are available`;
  return rest + affordable(prepared, available);
}

type LimitRefusal = Extract<AdmitReply, { outcome: "key_spend_limit_exceeded" | "account_spend_limit_exceeded" }>;

function limitMessage(prepared: Prepared, { outcome, headroom, budget }: LimitRefusal): string {
  const ofMonth =
    outcome === "key_spend_limit_exceeded" ? "this key's monthly spend limit" : "the workspace's monthly spend limit";
  const limit = budget === undefined ? ofMonth : budgetWords(budget, isMemberCaller(prepared.request.key));
  const needed = formatUsd(prepared.request.amount);
  const text = `The request would pass ${limit}: it may cost up to ${needed} USD${byMostExpensive(prepared)} and ${formatUsd(headroom)} USD are left`;
  return text + affordable(prepared, headroom);
}

/** The candidate of a routed request that decides its maximum cost. */
function byMostExpensive({ routed }: Prepared): string {
  return routed === undefined ? "" : ` with ${routed.dearest}, its dearest candidate,`;
}

/** Costs never fall with the output bound, so a binary search finds the largest bound that fits. */
function affordable(prepared: Prepared, available: NanoUsd): string {
  const { costOf } = prepared;
  if (costOf === null || available <= 0n || costOf(1) > available) return "";
  let fits = 1;
  let over = prepared.maxOutputTokens;
  while (over - fits > 1) {
    const middle = Math.floor((fits + over) / 2);
    if (costOf(middle) <= available) fits = middle;
    else over = middle;
  }
  return `, enough for max_tokens up to ${fits}`;
}

// Routed requests

/** The refusal of a model that is not in the catalog. */
const modelNotFound = "model_not_found";

interface RoutedPrice {
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
function priceCandidates(list: CandidateList, context: PricingContext): PricedCandidates | Refusal {
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

/** A list without providers belongs to a model that the gateway cannot use; it gives the reason. */
function usableCandidates(
  { id, providers }: { id: string; providers: readonly string[] },
  { record, models }: PricingContext,
): Candidate[] | Refusal {
  const model = models.find(id);
  if (model === null) return modelNotFound;
  const named = servedRoutes(model.routes, record).filter(({ provider }) => providers.includes(provider.id));
  // The workspace has an own key for another provider of the model, and lets the model spend no credit.
  if (named.length === 0 && providers.length > 0 && model.routes.some(({ provider }) => providers.includes(provider.id)))
    return "own_key_elsewhere";
  const { routes, reason } = models.usableRoutes({ ...model, routes: named }, record);
  return reason ?? routes.map((route) => ({ model, route }));
}

/** This process's view of the catalog. */
export interface ModelsView {
  /** False until a valid catalog has been read. */
  readable(): boolean;
  find(id: string): Model | null;
  /** The published model that an unknown id probably means. Absent: refusals name none. */
  nearest?(id: string): string | null;
  /** The routes that may serve this workspace, or the reason why there is none. */
  usableRoutes(
    model: Model,
    record: Pick<KeyRecord, "zeroDataRetention" | "earlyAccess"> & OwnKeys,
  ): { routes: Route[]; reason: UnavailableReason | null };
}
