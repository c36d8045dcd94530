/** Waits for an endpoint's answer, and turns an error into an error response. */
import { RefusedError } from "../admission/client/client.ts";
import { errorResponse, GatewayError } from "../../kernel/errors.ts";
import { countRequest } from "../../kernel/metrics.ts";
import type { Gateway } from "./gateway.ts";
import { drainRequest } from "../../http/drain-request.ts";
import { retryHeaders, windowHeaders } from "./response/headers.ts";

export async function withErrorBoundary(request: Request, gateway: Gateway, answer: Promise<Response>): Promise<Response> {
  try {
    const response = await answer;
    if (response.ok) countRequest(response.status, "none");
    return response;
  } catch (error) {
    const gatewayError = error instanceof GatewayError ? error : internalError(error, gateway);
    countRequest(gatewayError.status, gatewayError.code);
    if (gatewayError.status >= 500)
      gateway.log.debug({ event: "refused", code: gatewayError.code, reason: String(gatewayError.cause ?? "") });
    await drainRequest(request, gateway.clock);
    return errorResponse(gatewayError, rejectionHeaders(gatewayError));
  }
}

export function internalError(error: unknown, { log }: Gateway): GatewayError {
  log.error(
    { event: "internal_error", reason: error instanceof Error ? error.stack : String(error) },
    "A request failed unexpectedly",
  );
  return new GatewayError("internal_error", { cause: error });
}

function rejectionHeaders(error: GatewayError): Record<string, string> {
  if (!(error instanceof RefusedError)) return {};
  return {
    ...(error.window === null ? {} : windowHeaders(error.window)),
    ...(error.retryAfterMs === null ? {} : retryHeaders(error.retryAfterMs)),
  };
}
