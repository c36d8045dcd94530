/** Logs a provider's failure in our words, never in the provider's. */
import type { Reservation } from "../../credit/reservation.ts";
import { raiseAlarm } from "../../../kernel/alarm.ts";
import type { Logger } from "../../../kernel/log.ts";
import type { Route } from "../../models/model.ts";
import type { UpstreamFailure } from "../../providers/provider.ts";

export function logUpstreamFailure(
  { reservation, route, failure }: { reservation: Reservation; route: Route; failure: UpstreamFailure },
  log: Logger,
): void {
  const facts = {
    generation: reservation.generation,
    provider: route.provider.id,
    model: route.upstreamModel,
    detail: failure.message,
    ...(route.ownKey && { ownKey: route.ownKey.id }),
  };
  if (failure.code === "upstream_auth" && !route.ownKey)
    raiseAlarm(log, "upstream.auth", facts, "A provider refused the service's own credentials");
  else log.warn({ event: "upstream.failed", code: failure.code, ...facts });
}
