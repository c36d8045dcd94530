/**
 * Some models sign the calls of tools that they make and refuse them without their signature when they come back. An id is the
 * one thing of a call that every client sends back untouched (the official SDK's own tool runner drops whatever else is in it),
 * so the signature travels within the id. It ends here: no provider sees such an id.
 */
const mark = ".sig.";

export interface ToolCallId {
  id: string;
  /** Base64; null: the call was not signed. */
  signature: string | null;
}

/** @param signature base64 of either alphabet; anything else, and null, leaves the id as it is */
export function signedToolCallId(id: string, signature: string | null): string {
  if (signature === null || !/^[\w+/-]+={0,2}$/.test(signature)) return id;
  return `${id}${mark}${Buffer.from(signature, "base64").toString("base64url")}`;
}

export function readToolCallId(text: string): ToolCallId {
  const at = text.lastIndexOf(mark);
  const signature = text.slice(at + mark.length);
  if (at <= 0 || !/^[\w-]+$/.test(signature)) return { id: text, signature: null };
  return { id: text.slice(0, at), signature: Buffer.from(signature, "base64url").toString("base64") };
}
