/** A body to be sent, and what must be said about it. */
import { Buffer } from "node:buffer";
import type { Dice } from "./dice.ts";
import type { Json } from "./valid-body.ts";

/** Exactly this; null: it may be good after all, or wrong in any way. */
export type Said = { code: string; param: string | null } | null;

export interface Mutated {
  bytes: Uint8Array<ArrayBuffer>;
  said: Said;
}

export type Mutation = (body: Json, dice: Dice) => Mutated;

export const invalid = (param: string | null): Said => ({ code: "invalid_request", param });
export const unsupported = (param: string): Said => ({ code: "unsupported_parameter", param });

export const sent = (text: string | Uint8Array, said: Said): Mutated => ({ bytes: Uint8Array.from(Buffer.from(text)), said });
export const asJson = (body: unknown, said: Said): Mutated => sent(JSON.stringify(body), said);

/** The body with one more field, written last: where it is there twice, this one counts. @param value as JSON text */
export function withField(body: Json, name: string, value: string): string {
  return `${JSON.stringify(body).slice(0, -1)},${JSON.stringify(name)}:${value}}`;
}
