/** Refuses the fields of routing, which is in early access and off. */
import { isJsonObject, type JsonObject } from "../../../http/json-object.ts";
import { unsupportedParameter } from "../../../http/bad-request.ts";

const providerFields = ["order", "only", "ignore", "sort"];

/** @throws GatewayError unsupported_parameter */
export function rejectRouting(request: JsonObject): void {
  const field = routingField(request);
  if (field !== null) throw unsupportedParameter(field, `${field} needs routing, which is not available for this workspace`);
}

function routingField(request: JsonObject): string | null {
  if (request["models"] != null) return "models";
  const provider = request["provider"];
  if (provider == null) return null;
  const first = isJsonObject(provider) ? providerFields.find((field) => provider[field] != null) : undefined;
  return first === undefined ? "provider" : `provider.${first}`;
}

export const routingFields: readonly string[] = ["models", "provider"];
