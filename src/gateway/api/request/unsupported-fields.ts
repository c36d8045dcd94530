/** What the wire formats of a model's providers do with a request: the fields that they do not support, and what they add to it. */
import type { Model, WireFormatName } from "../../models/model.ts";
import type { ChatBody } from "../../providers/provider.ts";
import { wireFormats } from "../../providers/registry.ts";
import { unsupportedParameter } from "../../../http/bad-request.ts";

/**
 * Every route must support the request, since any of them may serve it.
 * @throws GatewayError unsupported_parameter with `param`
 */
export function rejectUnsupportedFields(body: ChatBody, model: Pick<Model, "routes"> | null): void {
  for (const format of formatsOf(model)) {
    const unsupportedField = wireFormats[format]?.format.unsupportedField?.(body);
    if (unsupportedField) throw unsupportedParameter(unsupportedField.param, unsupportedField.message);
  }
}

/** What any of the routes may add to the request's own texts, in bytes, as `inputTokensBound` counts. */
export function addedBytes(body: ChatBody, model: Pick<Model, "routes"> | null): number {
  return Math.max(0, ...[...formatsOf(model)].map((format) => wireFormats[format]?.format.addedBytes?.(body) ?? 0));
}

/** Each once, in the order of the routes. */
function formatsOf(model: Pick<Model, "routes"> | null): ReadonlySet<WireFormatName> {
  return new Set(model?.routes.map(({ format }) => format));
}
