/**
 * Reasoning across a tool loop. The API stores nothing for us, so it sends the reasoning before a call in encrypted form and
 * reads it again with the call's result; without it the model starts over at each step. It travels within the call's id, as
 * signatures do (gateway/tool-call-id.ts).
 */
import { reasoningCharactersMax } from "../../limits.ts";
import type { Route } from "../../models/model.ts";
import { asText } from "../wire/json.ts";
import { readToolCallId, signedToolCallId, signerNamed } from "../../tool-call-id.ts";

/** Who gets reasoning back: only the same account can decrypt it, and only the same model may read it. */
export function signerOf({ provider, upstreamModel, ownKey }: Route): string {
  return signerNamed([provider.id, upstreamModel, ...(ownKey === undefined ? [] : [ownKey.id])].join("."));
}

/**
 * @param encrypted the `encrypted_content` before the call, or whatever is in its place. It is left out, and the id unchanged, if
 * it is too long for an id or would not return exactly as it came
 * @param signer who gets it back; null: nobody, so nothing is added
 */
export function idWithReasoning(id: string, encrypted: unknown, signer: string | null): string {
  const text = asText(encrypted) ?? "";
  if (signer === null || text === "" || text.length > reasoningCharactersMax) return id;
  return fromBase64(text) === text ? signedToolCallId(id, { signer, base64: text }) : id;
}

/** @returns the id without the reasoning, and the reasoning if it is this signer's; null: nobody's */
export function readIdWithReasoning(text: string, signer: string | null): { id: string; encrypted: string | null } {
  const { id, signature } = readToolCallId(text);
  return { id, encrypted: signature?.signer === signer ? fromBase64(signature.base64) : null };
}

/** Base64 of either alphabet in the form of the API: that of URLs, with padding. */
function fromBase64(base64: string): string {
  const unpadded = Buffer.from(base64, "base64").toString("base64url");
  return unpadded + "=".repeat(-unpadded.length & 3);
}
