/** Turns a provider's failure into an error of the API, with our own message, never the provider's. */
import { GatewayError, errorTable } from "../../../kernel/errors.ts";
import { upstreamRetryAfterSeconds } from "../../limits.ts";
import type { Route } from "../../models/model.ts";
import type { UpstreamCode, UpstreamFailure } from "../../providers/provider.ts";
import { retryHeaders } from "./headers.ts";

/** The failure of a call before the client has received anything. */
export function upstreamError(failure: UpstreamFailure, { provider, ownKey }: Route): GatewayError<UpstreamCode> {
  if (ownKey && failure.code === "upstream_auth") {
    return new GatewayError(failure.code, {
      message: `${provider.name} refused the workspace's own key for ${provider.id}`,
      cause: failure,
    });
  }
  const headers = failure.code === "upstream_rate_limited" ? retryHeaders(upstreamRetryAfterSeconds * 1_000) : undefined;
  const message = failure.hint === null ? undefined : `${errorTable[failure.code].message}: ${failure.hint}`;
  return new GatewayError(failure.code, { message, headers, cause: failure });
}

/** The failure of a stream that has started: a timeout, or any other failure. */
export function streamError(failure: UpstreamFailure): GatewayError<UpstreamCode> {
  return new GatewayError(failure.code === "upstream_timeout" ? "upstream_timeout" : "upstream_error", { cause: failure });
}
