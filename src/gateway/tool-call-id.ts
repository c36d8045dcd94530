/**
 * What a model wants back with its tool calls: Gemini's signature, Claude's thoughts, the encrypted reasoning of the Responses API. The id
 * is the only part of a call that every client returns unchanged (the official SDK's tool runner drops all else), so this travels within
 * the id. The name of the model that gets it back travels with it, because no other may receive it. Nothing is stored for it here. Calls
 * without an id get one that is unique in the conversation. An id that a client has changed has no signature, and is sent on as it is.
 */
const mark = ".sig.";

/** OpenAI's chat completions accept ids of at most 40 characters, including those of other providers. */
const answerCharactersMax = 32;

/**
 * Creates an id for a call without one. It is unique in the conversation, because agents refuse a repeated id.
 * @param answerId the provider's id of the answer
 */
export function mintedToolCallId(answerId: unknown, index: number): string {
  const answerPart = typeof answerId === "string" ? answerId.slice(-answerCharactersMax).replace(/[^\w-]/g, "") : "";
  return `call_${answerPart || crypto.randomUUID().replaceAll("-", "").slice(-24)}_${index}`;
}

interface Signature {
  /** The model that gets the signature back, as `signerNamed` writes it; some formats add its provider and own key. */
  signer: string;
  base64: string;
}

/**
 * Only letters, digits, hyphens and underscores.
 * @param name the model as its provider spells it, with anything else that identifies the signer
 */
export function signerNamed(name: string): string {
  return name.replace(/[^\w-]/g, "_");
}

/** @param signature base64 of either alphabet; anything else leaves the id unchanged */
export function signedToolCallId(id: string, { signer, base64 }: Signature): string {
  if (!/^[\w+/-]+={0,2}$/.test(base64)) return id;
  return `${id}${mark}${signer}.${Buffer.from(base64, "base64").toString("base64url")}`;
}

/** Splits an id into the provider's id and the signature; the signature is null if there is none. */
export function readToolCallId(text: string): { id: string; signature: Signature | null } {
  const at = text.lastIndexOf(mark);
  if (at <= 0) return { id: text, signature: null };
  const [, signer, base64url] = /^([\w-]*)\.([\w-]+)$/.exec(text.slice(at + mark.length)) ?? [];
  if (signer === undefined || base64url === undefined) return { id: text, signature: null };
  return { id: text.slice(0, at), signature: { signer, base64: Buffer.from(base64url, "base64url").toString("base64") } };
}

/** Whether a message of the model gives back what came with one of its calls, whichever model gets it. */
export function givesBack({ tool_calls }: Readonly<Record<string, unknown>>): boolean {
  if (!Array.isArray(tool_calls)) return false;
  return tool_calls.some((call: unknown) => {
    const id = typeof call === "object" && call !== null && "id" in call ? call.id : null;
    return typeof id === "string" && readToolCallId(id).signature !== null;
  });
}
