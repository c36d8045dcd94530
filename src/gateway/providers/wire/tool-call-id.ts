/**
 * Some models sign the calls of tools that they make and refuse them without their signature when they come back. An id is the
 * one thing of a call that every client sends back untouched (the official SDK's own tool runner drops whatever else is in it),
 * so the signature travels within the id, with the name of the model that it is of: no other model takes it for its own.
 */
const mark = ".sig.";

/** OpenAI takes ids of 40 characters at most, also those that another provider's model made. */
const answerCharactersMax = 32;

/**
 * For a call that its provider gave no id: one that no other answer of the conversation has, for agents refuse an id that comes again.
 * @param answerId the provider's id of the answer
 */
export function mintedToolCallId(answerId: unknown, index: number): string {
  const told = typeof answerId === "string" ? answerId.replace(/[^\w-]/g, "").slice(-answerCharactersMax) : "";
  return `call_${told || crypto.randomUUID().replaceAll("-", "").slice(-24)}_${index}`;
}

export interface Signature {
  /** The model's name, of letters, digits, hyphens and underscores alone. */
  signer: string;
  base64: string;
}

/** @param model the name in its provider's words */
export function signerNamed(model: string): string {
  return model.replace(/[^\w-]/g, "_");
}

/** @param signature base64 of either alphabet; anything else leaves the id as it is */
export function signedToolCallId(id: string, { signer, base64 }: Signature): string {
  if (!/^[\w+/-]+={0,2}$/.test(base64)) return id;
  return `${id}${mark}${signer}.${Buffer.from(base64, "base64").toString("base64url")}`;
}

/** The id that the provider gave, and what was put into it; null: nothing. */
export function readToolCallId(text: string): { id: string; signature: Signature | null } {
  const at = text.lastIndexOf(mark);
  const [, signer, base64url] = /^([\w-]*)\.([\w-]+)$/.exec(text.slice(at + mark.length)) ?? [];
  if (at <= 0 || signer === undefined || base64url === undefined) return { id: text, signature: null };
  return { id: text.slice(0, at), signature: { signer, base64: Buffer.from(base64url, "base64url").toString("base64") } };
}
