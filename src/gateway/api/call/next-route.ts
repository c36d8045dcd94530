/** Chooses the route of the retry after a failed call. */
import type { Route } from "../../models/model.ts";
import type { UpstreamCode } from "../../providers/provider.ts";

/** Whether a retry may help on another route only, or on the same route too; null: on no route. */
const secondTry: Record<UpstreamCode, "elsewhere" | "anywhere" | null> = {
  upstream_error: "anywhere",
  upstream_rate_limited: "elsewhere",
  upstream_auth: "elsewhere",
  upstream_timeout: "elsewhere",
  upstream_rejected: null,
};

/** @param routes the routes that may serve, in order of preference */
export function nextRoute({
  code,
  failed,
  routes,
}: {
  code: UpstreamCode;
  failed: Route;
  routes: readonly Route[];
}): Route | null {
  const place = secondTry[code];
  if (place === null) return null;
  const other = routes.find((route) => route !== failed) ?? null;
  return other ?? (place === "anywhere" ? failed : null);
}
