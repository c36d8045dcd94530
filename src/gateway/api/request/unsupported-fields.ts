/** Refuses fields of the official schema that the wire format of the model's provider does not support. */
import type { Model } from "../../models/model.ts";
import type { ChatBody } from "../../providers/provider.ts";
import { wireFormats } from "../../providers/registry.ts";
import { unsupportedParameter } from "../../../http/bad-request.ts";

/**
 * Every route must support the request, since any of them may serve it.
 * @throws GatewayError unsupported_parameter with `param`
 */
export function rejectUnsupportedFields(body: ChatBody, model: Pick<Model, "routes"> | null): void {
  for (const { format } of model?.routes ?? []) {
    const unsupportedField = wireFormats[format]?.format.unsupportedField?.(body);
    if (unsupportedField) throw unsupportedParameter(unsupportedField.param, unsupportedField.message);
  }
}
