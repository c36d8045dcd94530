/**
 * Turns a provider's failure into an error of the API. The message is our own, never the provider's, which may hold its account, its
 * addresses or the text of another customer. A refused request keeps its cause and the client's field; all other failures say which
 * provider failed and whether a retry helps.
 * Once a stream has begun, its errors have one type, and every failure but a timeout and a refused request looks alike.
 * Agents shorten their conversation after one refusal: that of a prompt that is too long. Each API says so in its own way, and whether an
 * error is that refusal is decided here for all.
 */
import { GatewayError, errorTable } from "../../../kernel/errors.ts";
import { upstreamRetryAfterSeconds } from "../../limits.ts";
import type { Route } from "../../models/model.ts";
import { UpstreamFailure, type UpstreamCode } from "../../providers/provider.ts";
import { Rejection } from "../../providers/rejection.ts";
import { retryHeaders } from "./response.ts";

/** The failure of a call before the client has received anything. */
export function upstreamError(failure: UpstreamFailure, { provider, ownKey }: Route): GatewayError<UpstreamCode> {
  if (ownKey && failure.code === "upstream_auth") {
    return new GatewayError(failure.code, {
      message: `${provider.name} refused the workspace's own key for ${provider.id}`,
      cause: failure,
    });
  }
  const headers = failure.code === "upstream_rate_limited" ? retryHeaders(upstreamRetryAfterSeconds * 1_000) : undefined;
  return new GatewayError(failure.code, { message: messageOf(failure), param: paramOf(failure), headers, cause: failure });
}

/** The failure of a stream that has started: a timeout, a refused request, or any other failure. */
export function streamError(failure: UpstreamFailure): GatewayError<UpstreamCode> {
  if (failure.code === "upstream_timeout") return new GatewayError("upstream_timeout", { cause: failure });
  const message = failure.code === "upstream_rejected" ? (messageOf(failure) ?? errorTable[failure.code].message) : undefined;
  return new GatewayError("upstream_error", { message, param: paramOf(failure), cause: failure });
}

/**
 * Whether the prompt, or prompt and answer together, are longer than the model takes.
 * @returns what the gateway counts of them, if it has counted; null: the error is another
 */
export function tooLong({ cause }: GatewayError): Pick<Rejection, "size"> | null {
  if (cause instanceof Rejection) return cause.why === "too_long" ? cause : null;
  return cause instanceof UpstreamFailure && cause.hintedCause === "too_long" ? { size: null } : null;
}

function messageOf({ code, hint }: UpstreamFailure): string | undefined {
  return hint === null ? undefined : `${errorTable[code].message}: ${hint}`;
}

function paramOf(failure: UpstreamFailure): string | undefined {
  return failure instanceof Rejection ? (failure.param ?? undefined) : undefined;
}
