/** The two ways in which a request's body is refused at check 2. */
import { GatewayError } from "../kernel/errors.ts";

/** A value of the wrong type, out of its range, or in contradiction to another one. */
export function invalidRequest(param: string | undefined, message: string): GatewayError {
  return new GatewayError("invalid_request", { param, message });
}

/** A field or value that is legal in the official format and cannot be honoured here. */
export function unsupportedParameter(param: string, message: string): GatewayError {
  return new GatewayError("unsupported_parameter", { param, message });
}
