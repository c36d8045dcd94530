/** Cache breakpoints, in the form that Anthropic's API has and that gateways for it accept. */
import { Type } from "@sinclair/typebox";
import { unsupportedParameter } from "../../../http/bad-request.ts";
import { added, objectOf, oneOf, reader, required, type Field, type Reader } from "./read-value.ts";
import { supports } from "./supports.ts";

/** Writes for longer have another price, and the catalog has one price of writing. */
const lifetime: Reader = reader(Type.Literal("5m"), (value, at) => {
  if (value === "5m") return undefined;
  throw unsupportedParameter(at, `${at}: only 5m is supported, which is also the default`);
});

const breakpoint = objectOf({
  type: required(oneOf("ephemeral"), "The only kind"),
  ttl: added(lifetime, "How long the provider keeps it unread: only 5m is supported"),
});

const breakpointIfSupported: Reader = reader(breakpoint.schema, (value, at, context) => {
  if (!supports(context.model, "cache_control"))
    throw unsupportedParameter(at, `${context.model?.id ?? "The model"} does not support ${at}`);
  return breakpoint(value, at, context);
});

/** @param end the part of the prompt that is cached last */
export function cacheControl(end: string): Field {
  return added(
    breakpointIfSupported,
    `Asks the provider to cache the prompt to the end of ${end}, for requests that begin alike`,
  );
}
