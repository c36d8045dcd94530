/** Records a provider's failure: in the log, in our words and never in the provider's, in the metrics, and against the route's health. */
import type { Reservation } from "../../credit/reservation.ts";
import { raiseAlarm } from "../../../kernel/alarm.ts";
import type { Logger } from "../../../kernel/log.ts";
import type { StopSignal } from "../../../kernel/stop-signal.ts";
import { upstreamFailuresTotal } from "../../../kernel/metrics.ts";
import type { RouteHealth } from "../../models/health/route-health.ts";
import { Rejection } from "../../providers/rejection/rejection.ts";
import type { KeyReports } from "../../own-keys/key-reports.ts";
import type { Attempt } from "./attempts.ts";
import type { SentCall } from "./unpaid-work.ts";

/** What a failure concerns. An open stream holds this in place of the request, which would keep the body in memory. */
export interface FailureContext {
  reservation: Reservation;
  lifecycle: SentCall & { readonly stop: StopSignal };
  clientSignal: AbortSignal;
}

interface Recorders {
  log: Logger;
  health: Pick<RouteHealth, "recordFailure">;
  ownKeys: Pick<KeyReports, "refused">;
}

type Failed = Pick<Attempt, "candidate" | "failure">;

/** A call that the gateway aborted, and a fault of the request, do not count against the provider. */
export function recordFailure(
  { reservation, lifecycle, clientSignal }: FailureContext,
  { candidate, failure }: Failed,
  { log, health, ownKeys }: Recorders,
): void {
  const { route } = candidate;
  logFailure(reservation, { candidate, failure }, log);
  upstreamFailuresTotal.inc({ provider: route.provider.id, code: failure.code });
  const givenUp = clientSignal.aborted || lifecycle.stop.stopped;
  if (route.ownKey && failure.code === "upstream_auth") ownKeys.refused(route.ownKey);
  // Its provider may refuse or limit the workspace's account, while it serves all others.
  const isOfAccount = route.ownKey && (failure.code === "upstream_auth" || failure.code === "upstream_rate_limited");
  if (!givenUp && !isOfAccount && failure.code !== "upstream_rejected") health.recordFailure(route);
}

function logFailure({ generation }: Reservation, { candidate: { route }, failure }: Failed, log: Logger): void {
  const facts = {
    generation,
    provider: route.provider.id,
    model: route.upstreamModel,
    detail: failure.message,
    ...(failure instanceof Rejection && failure.why !== null && { cause: failure.why }),
    ...(route.ownKey && { ownKey: route.ownKey.id }),
  };
  if (failure.code === "upstream_auth" && !route.ownKey)
    raiseAlarm(log, "upstream.auth", facts, "A provider refused the service's own credentials");
  else log.warn({ event: "upstream.failed", code: failure.code, ...facts });
}
