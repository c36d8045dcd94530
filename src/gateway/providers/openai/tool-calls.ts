/**
 * Tool calls as SDKs need them: indexes from 0 without a gap; id, type and name on the first piece of each call and on no other.
 * Providers number calls together with texts, give every call the number 0, no number or no id, or tell a name after its id.
 */
import { heldToolCallCharactersMax } from "../../limits.ts";
import { asCount, asObject, asText, type JsonObject } from "../wire/json.ts";
import { UpstreamFailure } from "../provider.ts";
import { mintedToolCallId } from "../wire/tool-call-id.ts";
import { WholeObject } from "../wire/whole-object.ts";

type Kind = "function" | "custom";

/** What a provider tells of a call, all of it or in part; "" is what it does not tell. */
interface Piece {
  /** The provider's index; null: none was told. */
  place: number | null;
  id: string;
  kind: Kind;
  name: string;
  /** Arguments of a function, input of a custom tool. */
  text: string;
}

interface Call {
  /** Ours; null: the client has not been told of the call, for its name is not known. */
  index: number | null;
  place: number | null;
  id: string;
  kind: Kind;
  name: string;
  /** What came before the name. */
  held: string;
  readonly argued: WholeObject;
}

/** What is said of a call that no client could make. */
export const namelessCall = "a call of a tool has no name";

/**
 * Calls of a whole answer.
 * @param answerId the answer's own id, for calls that have none
 * @throws UpstreamFailure where one has no name
 */
export function wholeToolCalls(values: readonly unknown[], answerId: unknown): JsonObject[] {
  return values.map((value, index) => {
    const { id, kind, name, text } = readPiece(asObject(value) ?? {});
    if (name === "") throw new UpstreamFailure("upstream_error", namelessCall);
    return { id: id || mintedToolCallId(answerId, index), ...calling(kind, { name, text }) };
  });
}

/** The pieces of a stream, call by call. */
export class ToolCallPieces {
  /** By the provider's index: the call that its next piece belongs to. */
  readonly #byPlace = new Map<number, Call>();
  readonly #byId = new Map<string, Call>();
  readonly #unnamed = new Set<Call>();
  #last: Call | null = null;
  #announced = 0;
  #heldCharacters = 0;

  /** More has come of calls without a name than is held of them. */
  get holdsTooMuch(): boolean {
    return this.#heldCharacters > heldToolCallCharactersMax;
  }

  /** @param answerId the answer's own id, for calls that have none */
  take(values: readonly unknown[], answerId: unknown): JsonObject[] {
    const pieces: JsonObject[] = [];
    for (const value of values) {
      const told = asObject(value);
      const piece = told && this.#one(readPiece(told), answerId);
      if (piece !== null) pieces.push(piece);
    }
    return pieces;
  }

  /** Asked at the end: a call of which nothing but an id came was none, but arguments were meant for something. */
  lacksName(): boolean {
    for (const { held } of this.#unnamed) if (held !== "") return true;
    return false;
  }

  #one(piece: Piece, answerId: unknown): JsonObject | null {
    if (piece.id === "" && piece.name === "" && piece.text === "") return null;
    const call = this.#callOf(piece) ?? this.#begin(piece);
    this.#last = call;
    if (piece.place !== null) this.#byPlace.set(piece.place, call);
    if (call.id === "" && piece.id !== "") this.#byId.set((call.id = piece.id), call);
    call.argued.feed(piece.text);
    if (call.index !== null) return piece.text === "" ? null : { index: call.index, ...arguing(call.kind, piece.text) };
    if (piece.name === "") return this.#hold(call, piece);
    return this.#announce(call, piece, answerId);
  }

  /** null: the piece begins a new call. */
  #callOf({ place, id, name, text }: Piece): Call | null {
    const here = place === null ? this.#last : (this.#byPlace.get(place) ?? null);
    // Of a call that has its name: it is repeated with the next piece, or names another call once the arguments are whole.
    const another = here !== null && name !== "" && here.name !== "" && here.argued.closed && text !== "";
    if (id === "") {
      if (name === "") return here ?? this.#last;
      return another ? null : here;
    }
    const known = this.#byId.get(id);
    if (known !== undefined && (place === null || known.place === place || name === "")) return known;
    // An id that comes after the name is late; one that differs from the call's own is of another call.
    return here?.id === "" && !another ? here : null;
  }

  #begin({ place, id, kind }: Piece): Call {
    const call: Call = { index: null, place, id, kind, name: "", held: "", argued: new WholeObject() };
    if (id !== "") this.#byId.set(id, call);
    return call;
  }

  #hold(call: Call, { kind, text }: Piece): null {
    this.#unnamed.add(call);
    call.kind = kind;
    call.held += text;
    this.#heldCharacters += text.length + 1;
    return null;
  }

  #announce(call: Call, { kind, name, text }: Piece, answerId: unknown): JsonObject {
    this.#unnamed.delete(call);
    const index = this.#announced++;
    const told = calling(kind, { name, text: call.held + text });
    Object.assign(call, { index, kind, name, held: "" });
    return { index, id: call.id || mintedToolCallId(answerId, index), ...told };
  }
}

/** Arguments are JSON text; some providers send the object itself. */
export function argumentsText(value: unknown): string {
  if (typeof value === "string") return value;
  return value === undefined || value === null ? "" : JSON.stringify(value);
}

function readPiece(told: JsonObject): Piece {
  const custom = asObject(told["custom"]);
  const called = custom ?? asObject(told["function"]) ?? {};
  return {
    place: asCount(told["index"]),
    id: asText(told["id"]) ?? "",
    kind: custom !== null || told["type"] === "custom" ? "custom" : "function",
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
