/** The memory that inference requests may hold together, and the errors beyond it, with the specification's codes. */
import type { Caller } from "../../admission/client/admission.ts";
import { GatewayError } from "../../../kernel/errors.ts";
import { callerWord } from "../../../kernel/ids.ts";
import { requestsPerMinuteDefault } from "../../../accounts/limits.ts";
import {
  bodiesBytesMax,
  bodiesPerKeyBytesMax,
  bodiesPerWorkspaceBytesMax,
  bodiesReserveBytes,
  bodySmallBytes,
} from "../../limits.ts";
import { ByteBudget, type ByteHolder } from "../../../accounts/quotas/byte-budget.ts";
import { LimitReachedError } from "../../../accounts/quotas/limit-reached.ts";
import { retryHeaders } from "../response/headers.ts";

export function bodyBudget(): ByteBudget {
  return new ByteBudget({
    totalBytes: bodiesBytesMax,
    perWorkspaceBytes: bodiesPerWorkspaceBytesMax,
    perKeyBytes: bodiesPerKeyBytesMax,
    reserve: { bytes: bodiesReserveBytes, smallBytes: bodySmallBytes },
  });
}

export function holderOf({ record: { id, workspace } }: Caller): ByteHolder {
  return { key: id, workspace };
}

/**
 * A limit of the key or its workspace becomes `rate_limited`, which asks for fewer requests at a time. A limit of the gateway becomes
 * `billing_unavailable`, since credit was not checked. Other errors stay as they are.
 */
export function asGatewayError(error: unknown, { record }: Caller): unknown {
  if (!(error instanceof LimitReachedError)) return error;
  const headers = retryHeaders(error.retryAfterMs);
  if (error.status === 503) {
    const message = "The gateway is at its limit, so credit was not checked; try again shortly";
    return new GatewayError("billing_unavailable", { message, headers, cause: error });
  }
  const perMinute = record.requestsPerMinute ?? requestsPerMinuteDefault;
  const message = `Too many requests at once for this ${callerWord(record.id)}, which may make ${perMinute} requests per minute. ${error.message}`;
  return new GatewayError("rate_limited", { message, headers, cause: error });
}
