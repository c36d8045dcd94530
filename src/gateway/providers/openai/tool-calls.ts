/**
 * Normalizes tool calls for SDKs: indexes from 0 without a gap; id, type and name only on the first piece of each call. Providers number
 * calls together with texts, give every call the number 0, send no number or no id, or send the name after the id.
 * A call is held until its name is known, within a bound, because no client can take arguments of a call without a name.
 */
import { heldToolCallCharactersMax } from "../../limits.ts";
import { asCount, asObject, asText, writtenJson, type JsonObject, WholeObject } from "../wire/json.ts";
import { UpstreamFailure } from "../provider.ts";
import { mintedToolCallId } from "../../tool-call-id.ts";
import { KeptCalls } from "../wire/answers.ts";

type Kind = "function" | "custom";

/** The parts of a call in one piece; "" for those that it lacks. */
interface Piece {
  /** The provider's index; null if it sent none. */
  place: number | null;
  id: string;
  kind: Kind;
  name: string;
  /** Arguments of a function, or input of a custom tool. */
  text: string;
}

interface StreamedCall {
  /** Our index; null while the client has not received the call because its name is unknown. */
  index: number | null;
  place: number | null;
  id: string;
  kind: Kind;
  name: string;
  /** The text that arrived before the name. */
  held: string;
  readonly argued: WholeObject;
}

/** The error of a call that no client could run. */
export const namelessCall = "a call of a tool has no name";

/**
 * Normalizes the calls of a whole answer.
 * @param answerId the answer's id, for calls that have none
 * @throws UpstreamFailure when a call has no name
 */
export function wholeToolCalls(values: readonly unknown[], answerId: unknown): JsonObject[] {
  return values.map((value, index) => {
    const { id, kind, name, text: written } = readPiece(asObject(value) ?? {});
    if (name === "") throw new UpstreamFailure("upstream_error", namelessCall);
    const text = kind === "custom" ? written : wholeArguments(written);
    return { id: id || mintedToolCallId(answerId, index), ...calling(kind, { name, text }) };
  });
}

/** Normalizes the pieces of a stream, call by call. */
export class ToolCallPieces {
  /** By the provider's index: the call to which its next piece belongs. */
  readonly #byPlace = new Map<number, StreamedCall>();
  readonly #byId = new Map<string, StreamedCall>();
  /** Calls with arguments and without a name. */
  readonly #unnamed = new Set<StreamedCall>();
  /** Functions whose arguments have not begun. */
  readonly #unargued = new Set<StreamedCall>();
  readonly #kept = new KeptCalls();
  #last: StreamedCall | null = null;
  #announced = 0;
  #heldCharacters = 0;

  /** Whether the calls without a name have exceeded the bound on held text. */
  get holdsTooMuch(): boolean {
    return this.#heldCharacters > heldToolCallCharactersMax;
  }

  /** @param answerId the answer's id, for calls that have none */
  take(values: readonly unknown[], answerId: unknown): JsonObject[] {
    const pieces: JsonObject[] = [];
    for (const [position, value] of values.entries()) {
      const source = asObject(value);
      const read = source && readPiece(source);
      // Pieces of several calls at once, without an index: their order says which call each is of.
      if (read !== null && values.length > 1) read.place ??= position;
      const piece = read && this.#one(read, answerId);
      if (piece !== null) pieces.push(piece);
    }
    return pieces;
  }

  /** Checked at the end: a call that only has an id is dropped, but arguments without a name are an error. */
  lacksName(): boolean {
    return this.#unnamed.size > 0;
  }

  /** The arguments of the calls that got none. Called at the end. */
  end(): JsonObject[] {
    return [...this.#unargued].map(({ index, kind }) => ({ index, ...arguing(kind, noArguments) }));
  }

  #one(piece: Piece, answerId: unknown): JsonObject | null {
    if (piece.id === "" && piece.name === "" && piece.text === "") return null;
    const call = this.#callOf(piece) ?? this.#begin(piece);
    this.#last = call;
    if (piece.place !== null) this.#byPlace.set(piece.place, call);
    if (call.id === "" && piece.id !== "") {
      this.#kept.keep(piece.id);
      this.#byId.set((call.id = piece.id), call);
    }
    call.argued.feed(piece.text);
    if (call.index !== null) return piece.text === "" ? null : this.#argue(call, piece.text);
    if (piece.name === "") return this.#hold(call, piece);
    return this.#announce(call, piece, answerId);
  }

  #argue(call: StreamedCall, text: string): JsonObject {
    if (text.trim() !== "") this.#unargued.delete(call);
    return { index: call.index, ...arguing(call.kind, text) };
  }

  /** Returns null if the piece begins a new call. */
  #callOf({ place, id, name, text }: Piece): StreamedCall | null {
    const here = place === null ? this.#last : (this.#byPlace.get(place) ?? null);
    // A name on a call that already has one either repeats it, or names a new call if the arguments are complete.
    const another = here !== null && name !== "" && here.name !== "" && here.argued.closed && text !== "";
    if (id === "") {
      if (name === "") return here ?? this.#last;
      return another ? null : here;
    }
    const known = this.#byId.get(id);
    if (known !== undefined && (place === null || known.place === place || name === "")) return known;
    // An id after the name belongs to the same call; an id that differs from the call's id belongs to another call.
    return here?.id === "" && !another ? here : null;
  }

  /** @throws UpstreamFailure when there are too many calls */
  #begin({ place, kind }: Piece): StreamedCall {
    this.#kept.begin();
    return { index: null, place, id: "", kind, name: "", held: "", argued: new WholeObject() };
  }

  #hold(call: StreamedCall, { kind, text }: Piece): null {
    if (text !== "") this.#unnamed.add(call);
    call.kind = kind;
    call.held += text;
    this.#heldCharacters += text.length + 1;
    return null;
  }

  #announce(call: StreamedCall, { kind, name, text }: Piece, answerId: unknown): JsonObject {
    this.#unnamed.delete(call);
    this.#kept.keep(name);
    const index = this.#announced++;
    const named = calling(kind, { name, text: call.held + text });
    if (kind === "function" && (call.held + text).trim() === "") this.#unargued.add(call);
    Object.assign(call, { index, kind, name, held: "" });
    return { index, id: call.id || mintedToolCallId(answerId, index), ...named };
  }
}

const noArguments = "{}";

/** The arguments of a call that is complete: clients cannot parse an empty text. */
export function wholeArguments(value: unknown): string {
  const text = argumentsText(value);
  return text.trim() === "" ? noArguments : text;
}

/** Arguments are JSON text, but some providers send the object itself. */
export function argumentsText(value: unknown): string {
  if (typeof value === "string") return value;
  return value === undefined || value === null ? "" : writtenJson(value);
}

function readPiece(source: JsonObject): Piece {
  const custom = asObject(source["custom"]);
  const called = custom ?? asObject(source["function"]) ?? {};
  return {
    place: asCount(source["index"]),
    id: asText(source["id"]) ?? "",
    kind: custom !== null || source["type"] === "custom" ? "custom" : "function",
    name: asText(called["name"]) ?? "",
    text: argumentsText(custom === null ? called["arguments"] : custom["input"]),
  };
}

function calling(kind: Kind, { name, text }: { name: string; text: string }): JsonObject {
  return kind === "custom" ? { type: kind, custom: { name, input: text } } : { type: kind, function: { name, arguments: text } };
}

function arguing(kind: Kind, text: string): JsonObject {
  return kind === "custom" ? { custom: { input: text } } : { function: { arguments: text } };
}
