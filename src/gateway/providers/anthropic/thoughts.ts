/**
 * A model that thinks before it calls a tool wants its thinking back with the result, unmodified and in its place. Clients of chat
 * completions have no field for it, so it travels within the call's id (gateway/tool-call-id.ts). The signature holds the thinking itself,
 * encrypted; its summary comes back as `reasoning_content`, if the client sends that. Without it the block goes back with an empty text, as
 * the API writes blocks whose text it leaves out; their signatures are the same
 * (https://platform.claude.com/docs/en/build-with-claude/thinking). A client may have written an id itself, so ids are read within the
 * bounds of the calls' arguments, and anything that is not a piece is left out.
 * Clients of other endpoints have fields for thoughts: there each goes apart, with its signature as the seal.
 */
import { sealCharactersMax, thoughtsCharactersMax } from "../../limits.ts";
import type { Route } from "../../models/model.ts";
import type { ThoughtEvent } from "../provider.ts";
import { readToolCallId, signedToolCallId } from "../../tool-call-id.ts";
import { signerOf } from "../wire/answers.ts";
import { asArray, asCount, asText, type JsonObject, ToolArguments } from "../wire/json.ts";

/** A block before a call, in the answer's order. The client has the texts, so only their lengths are kept, by which they are split again. */
export type Piece =
  | { kind: "text"; characters: number }
  | { kind: "thinking"; characters: number; signature: string }
  | { kind: "redacted"; data: string };

/** Collects the blocks of one answer, piece by piece, and gives each call's id those that came before it. */
export class ThoughtsBeforeCalls {
  readonly #signer: string | null;
  #pieces: Piece[] = [];
  /** Characters of signatures and encrypted thoughts since the last call, and one for each block. Beyond the bound none are kept. */
  #characters = 0;

  /** @param route the called one; absent: no thoughts are kept */
  constructor(route?: Route) {
    this.#signer = route ? signerOf(route) : null;
  }

  /** A block, or its start in a stream. */
  block({ type, text, thinking, signature, data }: JsonObject): void {
    if (type === "text") this.#begin({ kind: "text", characters: lengthOf(text) });
    else if (type === "thinking") {
      this.#begin({ kind: "thinking", characters: lengthOf(thinking), signature: "" });
      this.#sign(asText(signature) ?? "");
    } else if (type === "redacted_thinking" && this.#hasRoomFor(lengthOf(data))) {
      this.#begin({ kind: "redacted", data: asText(data) ?? "" });
    }
  }

  /** A piece of the block that began last. */
  delta({ type, text, thinking, signature }: JsonObject): void {
    const last = this.#pieces.at(-1);
    if (type === "text_delta" && last?.kind === "text") last.characters += lengthOf(text);
    else if (type === "thinking_delta" && last?.kind === "thinking") last.characters += lengthOf(thinking);
    else if (type === "signature_delta") this.#sign(asText(signature) ?? "");
  }

  /** The id with the blocks since the call before; the id alone if none of them was a thought, or one cannot be sent back. */
  signed(id: string): string {
    const pieces = this.#pieces;
    const isKept = this.#signer !== null && this.#hasRoomFor(0) && pieces.some(isThought) && pieces.every(isSigned);
    this.#pieces = [];
    this.#characters = 0;
    if (!isKept) return id;
    const base64 = Buffer.from(JSON.stringify({ blocks: pieces.map(written) })).toString("base64");
    return signedToolCallId(id, { signer: this.#signer ?? "", base64 });
  }

  #begin(piece: Piece): void {
    if (this.#hasRoomFor(1)) this.#pieces.push(piece);
  }

  #sign(signature: string): void {
    const last = this.#pieces.at(-1);
    if (last?.kind === "thinking" && this.#hasRoomFor(signature.length)) last.signature += signature;
  }

  #hasRoomFor(characters: number): boolean {
    this.#characters += characters;
    return this.#characters <= thoughtsCharactersMax;
  }
}

/** The thoughts of one answer apart, for a call that wants them. The text of a thought comes before the event that ends it. */
export class SealedThoughts {
  /** The signature so far of the thought that is open; null: none is. */
  #signature: string | null = null;

  /** A block, or its start in a stream. It ends the thought before it. @returns what is said before the block's own text */
  block({ type, signature, data }: JsonObject): ThoughtEvent[] {
    const before = this.end();
    if (type === "thinking") this.#signature = asText(signature) ?? "";
    const encrypted = type === "redacted_thinking" ? (asText(data) ?? "") : "";
    return encrypted === "" ? before : [...before, { kind: "thought", seal: encrypted, redacted: true }];
  }

  /** A piece of the block that began last. A seal that is not whole is none. */
  delta({ type, signature }: JsonObject): void {
    if (type !== "signature_delta" || this.#signature === null) return;
    this.#signature += asText(signature) ?? "";
    if (this.#signature.length > sealCharactersMax) this.#signature = null;
  }

  /** The end of a block, or of the answer. */
  end(): ThoughtEvent[] {
    const seal = this.#signature;
    this.#signature = null;
    return seal === null ? [] : [{ kind: "thought", seal, redacted: false }];
  }
}

/** Reads the ids of a conversation's calls. A client may have written them, so they share the bounds of the calls' arguments. */
export class ThoughtsReader {
  readonly #signer: string | null;
  readonly #json = new ToolArguments();

  /** @param signer the model that receives the conversation; null: one that gets no thoughts */
  constructor(signer: string | null) {
    this.#signer = signer;
  }

  /** The provider's own id, and the blocks before the call if this signer wrote them. */
  read(text: string): { id: string; pieces: readonly Piece[] } {
    const { id, signature } = readToolCallId(text);
    if (signature === null || signature.signer !== this.#signer) return { id, pieces: [] };
    const written = this.#json.read(Buffer.from(signature.base64, "base64").toString());
    const pieces = asArray(written?.["blocks"]).map(read);
    return { id, pieces: pieces.every((piece) => piece !== null) ? pieces : [] };
  }
}

function lengthOf(text: unknown): number {
  return typeof text === "string" ? text.length : 0;
}

function isThought({ kind }: Piece): boolean {
  return kind !== "text";
}

function isSigned(piece: Piece): boolean {
  return piece.kind === "text" || (piece.kind === "thinking" ? piece.signature : piece.data) !== "";
}

/** Short, since clients store it: a text is its length, a thought its length and signature, an encrypted thought its data. */
function written(piece: Piece): unknown {
  if (piece.kind === "text") return piece.characters;
  return piece.kind === "thinking" ? [piece.characters, piece.signature] : [piece.data];
}

/** null if it is not a piece: a client may have written the id itself. */
function read(value: unknown): Piece | null {
  const text = asCount(value);
  if (text !== null) return { kind: "text", characters: text };
  const [first, second, ...others] = asArray(value);
  if (others.length > 0) return null;
  const [characters, signature, data] = [asCount(first), asText(second), asText(first)];
  if (characters !== null && signature) return { kind: "thinking", characters, signature };
  return data && second === undefined ? { kind: "redacted", data } : null;
}
