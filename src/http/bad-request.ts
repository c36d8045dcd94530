/** The two errors of check 2, which validates the body. */
import { GatewayError } from "../kernel/errors.ts";

/** A value of the wrong type, out of its range, or in conflict with another one. */
export function invalidRequest(param: string | undefined, message: string): GatewayError {
  return new GatewayError("invalid_request", { param, message });
}

/** A field or value that is legal in the official format but not supported here. */
export function unsupportedParameter(param: string, message: string): GatewayError {
  return new GatewayError("unsupported_parameter", { param, message });
}
