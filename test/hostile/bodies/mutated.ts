/** A body to send, with the expected error. */
import { Buffer } from "node:buffer";
import type { Dice } from "./dice.ts";
import type { Json } from "./valid-body.ts";

/** The expected error; null: the body may be valid, or wrong in any way. */
export type Expected = { code: string; param: string | null } | null;

export interface Mutated {
  bytes: Uint8Array<ArrayBuffer>;
  expected: Expected;
}

export type Mutation = (body: Json, dice: Dice) => Mutated;

export const invalid = (param: string | null): Expected => ({ code: "invalid_request", param });
export const unsupported = (param: string): Expected => ({ code: "unsupported_parameter", param });

export const sent = (text: string | Uint8Array, expected: Expected): Mutated => ({
  bytes: Uint8Array.from(Buffer.from(text)),
  expected,
});
export const asJson = (body: unknown, expected: Expected): Mutated => sent(JSON.stringify(body), expected);

/** Appends a field to the body. Where the field is there twice, this last one counts. @param value as JSON text */
export function withField(body: Json, name: string, value: string): string {
  return `${JSON.stringify(body).slice(0, -1)},${JSON.stringify(name)}:${value}}`;
}
