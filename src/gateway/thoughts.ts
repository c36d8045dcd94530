/**
 * What a model thought comes back to that model alone, unchanged. Messages and Responses have fields for thoughts, in which they travel as
 * `w1.SIGNER.…`: who may get the thought back, and what it needs. A text of any other form is another service's, and no model gets it. Chat
 * completions have no such field, so there thoughts travel in the ids of calls (tool-call-id.ts).
 * Nothing is stored or encrypted here: a seal is the provider's own. Like any text of a request, a thought has no bound but the body's. A
 * packed thought is scanned before it is parsed.
 */
import { Buffer } from "node:buffer";
import { scanJson } from "../http/json.ts";

/** A model's thought that a client gives back. */
export interface Thought {
  /** Who may get it: `signerOf` of the route that served. */
  signer: string;
  /** The summary or the reasoning; may be empty. */
  text: string;
  /** The provider's signature, encrypted text or data; empty: the text is all there is. */
  seal: string;
  /** The provider gives no text of it. */
  redacted?: true;
  /** How many calls of its message precede it. */
  callsBefore: number;
}

/** A thought without its place in a message. */
export type PlacelessThought = Omit<Thought, "callsBefore">;

/** For a field beside the text. The seal is written byte for byte. */
export function wrappedSeal({ signer, seal }: Pick<Thought, "signer" | "seal">): string {
  return `w1.${signer}.${seal}`;
}

/** @returns null: it is not ours */
export function readWrappedSeal(text: string): Pick<Thought, "signer" | "seal"> | null {
  const [head = "", signer] = /^w1\.([\w-]+)\./.exec(text) ?? [];
  return signer === undefined ? null : { signer, seal: text.slice(head.length) };
}

/** For one field alone. */
export function packedThought({ signer, text, seal, redacted }: PlacelessThought): string {
  const parts = redacted ? [text, seal, 1] : [text, seal];
  return wrappedSeal({ signer, seal: Buffer.from(JSON.stringify(parts)).toString("base64url") });
}

/** @returns null: it is not ours, or cannot be read */
export function readPackedThought(packed: string): PlacelessThought | null {
  const read = readWrappedSeal(packed);
  const parts = read === null ? null : readParts(Buffer.from(read.seal, "base64url"));
  if (read === null || parts === null) return null;
  const [text, seal, redacted] = parts;
  if (typeof text !== "string" || typeof seal !== "string") return null;
  return { signer: read.signer, text, seal, ...(redacted === 1 && { redacted: true }) };
}

/** One list with three parts, and one more value than `scanJson` counts for them. */
const partsBounds = { valuesMax: 4, depthMax: 1 };

/** A client may have written it: the check of the request's own JSON has not seen it. */
function readParts(bytes: Buffer): unknown[] | null {
  try {
    scanJson(bytes, partsBounds);
    const parts: unknown = JSON.parse(bytes.toString());
    return Array.isArray(parts) ? parts : null;
  } catch {
    return null;
  }
}
