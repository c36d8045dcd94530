/** What JetStream says of a delivered event in its reply subject: `$JS.ACK.<stream>.<consumer>.<attempt>.<stored>.<number>.<time>.<rest>`. */
import type { Msg } from "nats";
import type { Delivered } from "../../bus.ts";

export interface Delivery {
  /** 1 on first delivery. */
  attempt: number;
  /** The event's place in the stream. */
  sequence: number;
  /** Counts what the consumer delivered, from 1. */
  number: number;
  /** How many events the consumer has left to deliver. */
  rest: number;
}

/** Newer servers insert domain and account before the stream, and end with a random word. */
export function deliveryOf({ reply }: Msg): Delivery {
  const words = (reply ?? "").split(".");
  const [attempt = 0, sequence = 0, number = 0, , rest = 0] = words.slice(words.length > 9 ? 6 : 4).map(Number);
  return { attempt, sequence, number, rest };
}

export function deliveredOf(message: Msg): Delivered {
  const { data, headers } = message;
  return { id: headers?.get("Nats-Msg-Id") ?? "", payload: data, attempt: deliveryOf(message).attempt };
}
