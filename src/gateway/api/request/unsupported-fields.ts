/** Fields that every model has by the official schema, and the wire format of this one's provider has no place for. */
import type { Model } from "../../models/model.ts";
import type { ChatBody } from "../../providers/provider.ts";
import { wireFormats } from "../../providers/registry.ts";
import { unsupportedParameter } from "../../../http/bad-request.ts";

/**
 * Every route must be able to carry the request, for any of them may be the one that serves it.
 * @throws GatewayError unsupported_parameter with `param`
 */
export function rejectUnsupportedFields(body: ChatBody, model: Model | null): void {
  for (const { provider } of model?.routes ?? []) {
    const unsupportedField = wireFormats[provider.format]?.format.unsupportedField?.(body);
    if (unsupportedField) throw unsupportedParameter(unsupportedField.param, unsupportedField.message);
  }
}
