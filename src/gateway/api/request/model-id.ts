import { invalidRequest, unsupportedParameter } from "../../../http/bad-request.ts";
import { modelIdCharactersMax } from "../../limits.ts";

/**
 * The id of a model, which need not be in the catalog.
 * @param at the path of the field, as `param` shows it
 * @throws GatewayError invalid_request, or unsupported_parameter for a custom model
 */
export function readModelId(value: unknown, at: string): string {
  if (value === undefined) throw invalidRequest(at, `${at} is required`);
  if (typeof value !== "string" || value === "") throw invalidRequest(at, `${at} must be the id of a model`);
  if (value.length > modelIdCharactersMax)
    throw invalidRequest(at, `${at} must not be longer than ${modelIdCharactersMax} characters`);
  if (value.startsWith("custom:")) throw unsupportedParameter(at, "A custom model cannot be used with an API key");
  return value;
}
