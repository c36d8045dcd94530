/** Makes the settlement of an ended answer. */
import type { Reservation } from "../credit/reservation.ts";
import type { Settlement } from "../journal/settlement.ts";
import type { OwedRoute } from "../journal/spool-line.ts";
import type { Route, Usage } from "../models/model.ts";

export interface SettlementFacts {
  /** The route that served or was tried last; null: no route was tried. */
  route: Route | null;
  usage: Usage;
  usageEstimated: boolean;
  status: number;
  code: string | null;
  streamed: boolean;
  firstTokenMs: number | null;
  durationMs: number;
}

const noRoute: OwedRoute = { provider: "none", prices: { input: "0", output: "0", cacheRead: "0", cacheWrite: "0" } };

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

function formatRoute({ provider, prices }: Route): OwedRoute {
  return {
    provider: provider.id,
    prices: {
      input: (prices?.input ?? 0n).toString(),
      output: (prices?.output ?? 0n).toString(),
      cacheRead: (prices?.cacheRead ?? 0n).toString(),
      cacheWrite: (prices?.cacheWrite ?? 0n).toString(),
    },
  };
}

/** Charges the prices of the route that served. A failure that delivered nothing has no usage and costs nothing. */
export function settlementOf(reservation: Reservation, model: string, ending: SettlementFacts): Settlement {
  const { provider, prices } = ending.route === null ? noRoute : owedRoute(ending.route);
  return {
    generation: reservation.generation,
    request: reservation.request,
    workspace: reservation.workspace,
    key: reservation.key,
    month: reservation.month,
    outcome: "settled",
    reserved: reservation.amount.toString(),
    admittedAt: reservation.admittedAt,
    model,
    provider,
    prices,
    usage: ending.usage,
    usageEstimated: ending.usageEstimated,
    status: ending.status,
    code: ending.code,
    streamed: ending.streamed,
    firstTokenMs: ending.firstTokenMs === null ? null : Math.max(0, Math.round(ending.firstTokenMs)),
    durationMs: Math.max(0, Math.round(ending.durationMs)),
  };
}
