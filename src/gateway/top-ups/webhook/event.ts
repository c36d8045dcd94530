/** An event of Stripe's webhook: only what Weir reads of it, since its form follows the version that the account has set. */
import { Type, type Static } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";

const text = Type.String({ minLength: 1, maxLength: 255 });
const maybeText = Type.Optional(Type.Union([text, Type.Null()]));

const EventObject = Type.Object({
  id: text,
  status: maybeText,
  amount: Type.Optional(Type.Union([Type.Integer({ minimum: 0 }), Type.Null()])),
  payment_intent: maybeText,
  client_reference_id: maybeText,
  metadata: Type.Optional(Type.Union([Type.Record(Type.String(), Type.String()), Type.Null()])),
});
export type EventObject = Static<typeof EventObject>;

const Event = Type.Object({
  id: text,
  type: text,
  livemode: Type.Boolean(),
  data: Type.Object({ object: Type.Unknown() }),
});
export type StripeEvent = Static<typeof Event>;

const events = TypeCompiler.Compile(Event);
const objects = TypeCompiler.Compile(EventObject);

/** @returns null: it is no event */
export function parseEvent(bytes: Uint8Array): StripeEvent | null {
  try {
    const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    return events.Check(value) ? value : null;
  } catch {
    return null;
  }
}

/** What a type that Weir uses is about. @throws Error for an object of another form, which a person has to look at */
export function objectOf({ type, data: { object } }: StripeEvent): EventObject {
  if (objects.Check(object)) return object;
  throw new Error(`An event ${type} has an object of an unknown form`);
}
