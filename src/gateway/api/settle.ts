/** Makes the settlement of an ended answer. */
import type { EndingCode } from "../../kernel/errors.ts";
import type { Reservation } from "../credit/reservation.ts";
import { owedPrices } from "../journal/owed-prices.ts";
import type { Endpoint, Settlement } from "../journal/settlement.ts";
import type { OwedRoute } from "../journal/spool-line.ts";
import type { Candidate } from "../models/routing/candidate.ts";
import type { Prices, Route, Usage } from "../models/model.ts";

export interface SettlementFacts {
  /** The candidate that served or was tried last; null: none was tried. */
  candidate: Candidate | null;
  /** Absent: the workspace has routing off. */
  routing?: Settlement["routing"];
  usage: Usage;
  usageEstimated: boolean;
  status: number;
  code: EndingCode | null;
  streamed: boolean;
  firstTokenMs: number | null;
  durationMs: number;
  /** Absent: chat completions. */
  endpoint?: Endpoint | undefined;
}

const free: Prices = { input: 0n, output: 0n, cacheRead: 0n, cacheWrite: 0n };
const noRoute: OwedRoute = { provider: "none", prices: formatPrices(free) };

/** By route of the catalog. Every start and every end writes the route, and formatting its long prices is slow. */
const formatted = new WeakMap<Route, OwedRoute>();

/** The provider and its prices, as spool and settlement hold them. */
export function owedRoute(route: Route): OwedRoute {
  const known = formatted.get(route);
  if (known) return known;
  const owed = formatRoute(route);
  formatted.set(route, owed);
  return owed;
}

function formatRoute({ provider, prices, ownKey }: Route): OwedRoute {
  const tiers = prices?.tiers?.map((tier) => ({ aboveInputTokens: tier.aboveInputTokens, ...formatPrices(tier) }));
  const owed = { prices: formatPrices(prices ?? free), ...(tiers && { tiers }) };
  if (ownKey === undefined) return { provider: provider.id, ...owed };
  return { provider: provider.id, prices: noRoute.prices, ownKey: { id: ownKey.id, ...owed } };
}

function formatPrices({ input, output, cacheRead, cacheWrite }: Prices): OwedRoute["prices"] {
  return {
    input: input.toString(),
    output: output.toString(),
    cacheRead: cacheRead.toString(),
    cacheWrite: cacheWrite.toString(),
  };
}

/**
 * Charges the prices of the route that served, in the tier that the counted prompt reached. A failure that delivered nothing has no usage
 * and costs nothing.
 * @param model the requested one, which the settlement names if no candidate was tried
 */
export function settlementOf(reservation: Reservation, model: string, ending: SettlementFacts): Settlement {
  const owed = ending.candidate === null ? noRoute : owedRoute(ending.candidate.route);
  return {
    generation: reservation.generation,
    request: reservation.request,
    workspace: reservation.workspace,
    key: reservation.key,
    month: reservation.month,
    outcome: "settled",
    reserved: reservation.amount.toString(),
    admittedAt: reservation.admittedAt,
    model: ending.candidate?.model.id ?? model,
    provider: owed.provider,
    ...owedPrices(owed, ending.usage),
    usage: ending.usage,
    usageEstimated: ending.usageEstimated,
    status: ending.status,
    code: ending.code,
    streamed: ending.streamed,
    firstTokenMs: ending.firstTokenMs === null ? null : Math.max(0, Math.round(ending.firstTokenMs)),
    durationMs: Math.max(0, Math.round(ending.durationMs)),
    ...(reservation.block !== undefined && { block: reservation.block }),
    ...(ending.endpoint && { endpoint: ending.endpoint }),
    ...(ending.routing && { routing: ending.routing }),
  };
}
